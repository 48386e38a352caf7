"""Page of a pool that adds models as workers: YAML, preview, stored."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from selection.accounts import scoped
from selection.admin import styled
from selection.admin.forms import file_field
from selection.admin.imports.join_offer import offer_joining
from selection.admin.page import Page, object_url
from selection.errors import Refused
from selection.model_workers import askable, changes, price_list
from selection.model_workers.model_files import LARGEST_FILE, ModelEntry, ModelFile
from selection.models import ModelServer, plain_key
from selection.texts import count_noun

ROWS_SHOWN = 100
EXAMPLE = """models:
- server: {server}
  model: [gpt-4o-mini, gpt-4o]
  temperature: [0, 1]
  prompt:
    plain: ""
    careful: Think step by step. Write the answer into the last line.
  price_in: 0.15    # of a million input tokens
  price_out: 0.60   # of a million output tokens"""
WITH_KEY = "Enter the API key on the page of the model server, and leave it out here."


class ModelsForm(forms.Form):
    """A YAML file, or its text. ``cleaned_data["text"]`` is the text."""

    file = file_field("File", ".yaml,.yml,.txt")
    pasted = styled.TextField(
        label="Or write it here",
        required=False,
        strip=False,
        max_length=LARGEST_FILE,
        attrs={"rows": 14, "spellcheck": "false"},
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file, pasted = cleaned.get("file"), cleaned.get("pasted", "")
        if bool(file) == bool(pasted.strip()):
            raise ValidationError("Choose a file or write the text: one of the two.")
        text = file.read(4 * LARGEST_FILE).decode(errors="replace") if file else pasted
        return cleaned | {"text": text}


class PoolModelsPage(Page):
    """A form, then a preview of the workers that its text describes; ``do=add`` stores them."""

    permission_required = ["selection.change_pool"]
    location = ("<int:pk>/models/", "models")
    below_object = True
    template_name = "selection/pool_models.html"
    title = "Add models as workers"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        servers = self._servers()
        kwargs.setdefault("form", ModelsForm())
        example = EXAMPLE.format(server=servers[0].name if servers else "OpenAI")
        return super().get_context_data(
            servers=servers, example=example, back=object_url(self.object), **kwargs
        )

    def _servers(self) -> list[ModelServer]:
        return list(scoped(ModelServer, self.request).filter(team=self.object.team_id))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        form = ModelsForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._show(form)
        text = form.cleaned_data["text"]
        try:
            file = ModelFile(text)
            if any(entry.key is not None for entry in file.servers):
                form = ModelsForm()  # without the text: no page repeats a key
                messages.error(request, WITH_KEY)
                return self._show(form)
            file.build_endpoints(self._map_servers(file), askable.list_columns(self.object.team_id))
            if request.POST.get("do") == "add":
                return self._add(file)
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return self._show(form)
        again = ModelsForm(initial={"pasted": text})
        return self._show(again, text=text, **self._preview(file))

    def _show(self, form: ModelsForm, **context: Any) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form, **context))

    def _map_servers(self, file: ModelFile) -> dict[str, ModelServer]:
        added = {
            str(entry.values["name"]): ModelServer(
                team_id=self.object.team_id, name=str(entry.values["name"])
            )
            for entry in file.servers
        }
        return added | {server.name: server for server in self._servers()}

    def _list_urls(self, file: ModelFile) -> dict[str, str]:
        urls = {server.name: server.url for server in self._servers()}
        return urls | {str(one.values["name"]): str(one.values["url"]) for one in file.servers}

    def _preview(self, file: ModelFile) -> dict[str, Any]:
        entries = file.models
        names = [entry.worker for entry in entries]
        workers = self.object.workers
        present = set(workers.filter(key__in=names).values_list("key", flat=True))
        changed = sum(plain_key(name) in present for name in names)
        prices = price_list.find_published(entries, self._list_urls(file))
        return {
            "rows": [
                _describe(entry) | {"published": price_list.describe_prices(prices.get(n, {}))}
                for n, entry in enumerate(entries[:ROWS_SHOWN])
            ],
            "priced": len(prices),
            "price_source": price_list.SOURCE,
            "count": len(entries),
            "unseen": max(0, len(entries) - ROWS_SHOWN),
            "changed": changed,
        }

    def _add(self, file: ModelFile) -> HttpResponse:
        if "published" in self.request.POST:
            price_list.fill_prices(file.models, self._list_urls(file), price_list.DOLLARS[0])
        new, changed = changes.store_file(self.object, file)
        counts = [f"{new} added"] if new or not changed else []
        counts += [f"{changed} changed"] if changed else []
        models = count_noun(new + changed, "model")
        messages.success(self.request, f"Stored {models}: {', '.join(counts)}.")
        if new:
            offer_joining(self.request, self.object)
        return redirect(object_url(self.object))


def _describe(entry: ModelEntry) -> dict[str, Any]:
    columns = ("model", "temperature", "seed", "system_prompt", "template")
    others = {
        name.replace("_", " "): value
        for name, value in entry.values.items()
        if name not in columns and value not in ("", None)
    }
    return {
        "worker": entry.worker,
        "server": entry.server,
        "model": entry.values["model"],
        "temperature": entry.values.get("temperature", 0),
        "prompt": entry.values.get("system_prompt", ""),
        "others": others,
    }
