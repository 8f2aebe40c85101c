// A shared conversation: its code can be copied.
import { dressCode, startCode } from "./chat/code.js";

dressCode(document);
startCode(document);
