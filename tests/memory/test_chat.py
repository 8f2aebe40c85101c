def test_x(bob, flow):
    first = bob.says(flow, "你好")
    again = bob.says(flow, "再见", session_id=first["session_id"])
    assert again["session_id"] == first["session_id"]

def test_socket(bob, flow, model):
    with bob.socket(flow.pk) as s:
        s.send("turn.start", input="hello")
        ev = s.to_end()
        print(ev)
        assert ev[-1]["type"] == "turn.completed"
