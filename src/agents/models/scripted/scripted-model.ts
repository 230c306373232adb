import type { JsonValue } from "../../../canonical/index.js";
import { DaleError } from "../../../errors/index.js";
import type { ChatModel, ModelCall, ModelReply, ModelRequest } from "../chat-model.js";
import { asValue, type ConversationView, fulfils, holds, namedValues, viewConversation } from "./conversation.js";
import { renderText, renderValue, type Values, valueAt } from "./expression.js";
import type { ArgumentTemplate, Rule, Script } from "./script.js";
import { languageOf, plainText } from "./text.js";

/**
 * A model that follows a script: the first rule whose conditions all hold gives the reply. It keeps nothing between two
 * requests, so the same conversation always gets the same reply.
 */
export function createScriptedModel(script: Script, options: { readonly name: string }): ChatModel {
  const words = Object.fromEntries(Object.entries(script.languages).map(([name, language]) => [name, language.words]));

  function reply(request: ModelRequest): ModelReply {
    const view = viewConversation(request.messages);
    const named = namedValues(script, view);
    const language = languageOf(view.texts, words, script.defaultLanguage);
    for (const rule of script.rules) {
      const values = match(rule, view, request, { ...named, language });
      if (values !== undefined) return perform(rule, values, language, request);
    }
    throw new DaleError("model_failed", "No rule of the scripted model fits, not even a last one without conditions.");
  }

  function perform(rule: Rule, values: Values, language: string, request: ModelRequest): ModelReply {
    const locale = script.languages[language]?.locale ?? "en-US";
    const text = renderText(rule.say[language] ?? [], values, locale);
    const step = request.messages.length;
    const calls = rule.calls.map(
      (call, index): ModelCall => ({
        id: `script-${step}-${index}`,
        tool: call.tool,
        argumentsText: JSON.stringify(render({ fields: call.args }, values, locale)),
      }),
    );
    return { text, calls };
  }

  return { name: options.name, generate: async (request) => reply(request) };
}

function match(rule: Rule, view: ConversationView, request: ModelRequest, named: Values): Values | undefined {
  const values: Record<string, JsonValue | undefined> = { ...named };
  if (rule.result === undefined) {
    if (view.fresh.length > 0) return undefined;
  } else {
    const condition = rule.result;
    const found = view.fresh.find((entry) => fulfils(entry, condition));
    if (found === undefined) return undefined;
    Object.assign(values, asValue(found));
  }
  if (rule.notes.length > 0 && !(request.notes ?? []).some((note) => rule.notes.includes(note.kind))) return undefined;
  if (rule.said.length > 0) {
    const said = plainText(view.said);
    if (!rule.said.some((pattern) => pattern.test(said))) return undefined;
  }
  if (rule.user.length > 0) {
    const text = plainText(view.texts[0] ?? "");
    const found = rule.user.map((pattern) => pattern.exec(text)).find((one) => one !== null);
    if (found === undefined || found === null) return undefined;
    for (const [name, value] of Object.entries(found.groups ?? {})) if (value !== undefined) values[name] = value;
  }
  if (!rule.has.every((path) => isThere(values, path)) || rule.lacks.some((path) => isThere(values, path))) {
    return undefined;
  }
  return holds(values, rule.where) ? values : undefined;
}

function isThere(values: Values, path: string): boolean {
  const value = valueAt(values, path.split("."));
  return value !== undefined && value !== null;
}

/** Arguments with their templates filled in; a field without a value is left out. */
function render(template: ArgumentTemplate, values: Values, locale: string): JsonValue | undefined {
  if ("value" in template) return template.value;
  if ("template" in template) return renderValue(template.template, values, locale);
  if ("items" in template) return template.items.map((item) => render(item, values, locale) ?? null);
  const fields = Object.entries(template.fields).flatMap(([key, field]) => {
    const value = render(field, values, locale);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(fields);
}
