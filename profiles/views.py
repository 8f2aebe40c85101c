"""Pages about oneself, and about work."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.generic import View
from django.views.i18n import set_language as set_in_browser

from profiles import profile_page, tags, task_page, work
from profiles.errors import NotYoursToChange, PersonNotFound, ProfileNotFound, TagNotFound, TaskChanged, TaskNotFound
from profiles.models import Look, Sight, UserProfile, WorkStatus, WorkTask
from profiles.own_profile import change, count_anew
from profiles.profile_forms import PreferencesForm, TagForm
from profiles.task_forms import TaskForm


def set_language(request: HttpRequest) -> HttpResponseBase:
    """Chooses the language in this browser, and for a person who is logged in everywhere."""
    response = set_in_browser(request)
    chosen = request.POST.get("language", "")
    if request.user.is_authenticated and chosen in dict(settings.LANGUAGES):
        UserProfile.objects.filter(pk=request.user.pk).update(preferred_language=chosen)
    return response


class TasksView(LoginRequiredMixin, View):
    """My work and the team's (`?tab=team`), by `?show=`; work is given by POST."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return _page(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = TaskForm(request.POST, user=request.user)
        if not form.is_valid():
            return _page(request, form=form, action=reverse("tasks"))
        said = form.cleaned_data
        new = work.NewTask(said["title"], said["assignee"].pk, said["description"], said["due_at"])
        try:
            task, _is_new = work.give(request.user, new)
        except PersonNotFound as error:
            messages.warning(request, str(error.detail))
            return _back(request)
        is_mine = task.assignee_id == request.user.pk
        return _back(request, task, tab=task_page.MINE if is_mine else task_page.TEAM, show="unfinished")


class TaskEditView(LoginRequiredMixin, View):
    """Other words or another day for a task that one gave."""

    def post(self, request: HttpRequest, task_id: int) -> HttpResponse:
        form = TaskForm(request.POST, user=request.user, editing=True)
        if not form.is_valid():
            task = _task(request, task_id)
            return _page(request, form=form, action=reverse("task_edit", args=[task.pk]))
        wanted = {field: form.cleaned_data[field] for field in work.WORDING}
        return _changed(request, task_id, wanted)


class TaskMoveView(LoginRequiredMixin, View):
    """Another status for a task that one does, or the end of one that one gave."""

    def post(self, request: HttpRequest, task_id: int) -> HttpResponse:
        to = request.POST.get("status", "")
        if to not in WorkStatus.values:
            raise Http404
        return _changed(request, task_id, {"status": to})


def _changed(request: HttpRequest, task_id: int, wanted: dict[str, Any]) -> HttpResponse:
    try:
        task = work.change(request.user, task_id, wanted)
    except TaskNotFound:
        raise Http404 from None
    except (TaskChanged, NotYoursToChange) as error:
        messages.warning(request, str(error.detail))
        return _back(request)
    return _back(request, task)


def _task(request: HttpRequest, task_id: int) -> WorkTask:
    try:
        return work.visible_task(request.user, task_id)
    except TaskNotFound:
        raise Http404 from None


def _back(request: HttpRequest, task: WorkTask | None = None, **other: str) -> HttpResponse:
    """To the page of the list that the form was sent from, at the task."""
    asked = task_page.Asked.of(request.GET)
    to_task = {"task": task.pk} if task else {}
    address = asked.address(**{"page": asked.page} | to_task | other)
    return redirect(f"{reverse('tasks')}{address}{f'#task-{task.pk}' if task else ''}")


def _page(request: HttpRequest, *, form: TaskForm | None = None, action: str = "") -> HttpResponse:
    asked = task_page.Asked.of(request.GET)
    shown = task_page.context(request, asked)
    Look.objects.record(request.user, [task.assignee_id for task in shown["rows"]], sight=Sight.WORK)
    context = shown | {"form": form, "form_action": action, "page": {"session": None, "text": task_page.page_text()}}
    response = render(request, "profiles/tasks.html", context, status=400 if form else 200)
    if asked.tab == task_page.MINE:
        work.mark_seen(request.user)
    return response


class ProfileView(LoginRequiredMixin, View):
    """What is known about me, what I think of it, what my manager sees, and who looked."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return _profile(request)


class PreferencesView(LoginRequiredMixin, View):
    """How one is called and spoken to."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = PreferencesForm(request.POST)
        if not form.is_valid():
            return _profile(request, form=form)
        try:
            change(request.user, form.cleaned_data)
        except ProfileNotFound:
            raise Http404 from None
        messages.success(request, _("Saved."))
        return redirect(f"{reverse('profile_page')}#preferences")


class TagView(LoginRequiredMixin, View):
    """What one decides about a tag."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = TagForm(request.POST)
        if not form.is_valid():
            raise Http404
        try:
            if words := form.cleaned_data["words"]:
                tags.correct(request.user, form.decision(), words)
            else:
                tags.decide(request.user, form.decision())
        except TagNotFound as error:
            messages.warning(request, str(error.detail))
        count_anew(request.user)
        return redirect(f"{reverse('profile_page')}#noticed")


def _profile(request: HttpRequest, *, form: PreferencesForm | None = None) -> HttpResponse:
    try:
        shown = profile_page.context(request.user)
    except ProfileNotFound:
        raise Http404 from None
    context = shown | {
        "form": form or profile_page.preferences(shown["profile"]),
        "page": {"session": None, "text": {}},
    }
    return render(request, "profiles/profile.html", context, status=400 if form else 200)
