import { finds, type Rule } from '../rule.ts';

const ROLES =
  '(?:system|assistant|user|human|developer|instructions?|system[-_ ]?(?:prompt|reminder|message|instructions?)|tool[-_]?(?:results?|use|calls?|response|output)|function[-_]?(?:results?|calls?)|antml:\\w+|command-(?:name|message|args)|local-command-\\w+|task|important|admin|thinking|override)';

/** Text that passes for a turn of a conversation, and markup that shows a reader something else. */
export const MARKUP_RULES: readonly Rule[] = [
  {
    kind: 'markup',
    reason: 'forges a turn of the conversation',
    find: finds(
      `<\\|[^|\\n]{1,40}\\|>|\\[/?inst\\]|<</?sys>>|<｜|</?${ROLES}(?: [^>\\n]{0,80})?>|\\[/?(?:system|assistant|admin|developer)(?: [^\\]\\n]{0,40})?\\]|<(?:start|end)_of_turn>|</?s>|\\bbegin_of_text|\\bend_?of_?(?:text|turn|prompt|system|instructions)\\b|["']?\\brole["']? ?: ?["']?(?:system|developer)\\b`,
      '(?:^|\\n)[ \\t>*#_-]{0,8}(?:human|assistant|system|user|developer|ai)[*_]{0,2}: ?[*_]{0,2}(?:\\S|\\n)|(?:^|\\n)#{1,6} *(?:system|new system|instruction|response|human|assistant|system prompt)s?:? *(?:\\n|$)',
    ),
  },
  {
    kind: 'markup',
    reason: 'hides markup from a reader',
    find: finds(
      '<[a-z][^>\\n]{0,300}(?:display *: *none|visibility *: *hidden|font-size *: *0|opacity *: *0(?!\\.[1-9])|color *: *(?:white|#fff|transparent)|(?:width|height) *[:=] *["\']?0|(?:left|top|text-indent) *: *-\\d{3}|\\bhidden\\b|aria-hidden)',
    ),
  },
  {
    kind: 'markup',
    reason: 'holds markup that runs or loads',
    find: finds(
      '</?(?:script|iframe|object|embed|style|svg|math|link|meta|base|form|template|noscript|applet|frame|portal)\\b|<[a-z][^>\\n]{0,300}\\bon(?:error|load|click|mouse\\w+|focus|toggle)\\s{0,3}=|<!\\[cdata|<!doctype|<!entity|<\\?(?:php|xml)',
    ),
    isRendered: true,
  },
  {
    kind: 'html_comment',
    reason: 'holds a comment that no reader sees',
    find: finds('(?:^|\\n) {0,3}\\[(?:/{2}|comment|_|#|\\^?hidden)[^\\]\\n]{0,40}\\]: *(?:#|<>)|<!-(?!-)'),
    isRendered: true,
  },
  {
    kind: 'markup',
    reason: 'links to code or to data',
    find: finds(
      '\\]\\(\\s{0,3}<?(?:javascript|data|vbscript|file|blob|about|ms-\\w+|vscode|cursor|jar):|\\]: *<?(?:javascript|data|vbscript|file):|(?:href|src|action)\\s{0,3}=\\s{0,3}["\']?(?:javascript|data|vbscript):|<(?:javascript|data|vbscript):',
    ),
  },
  {
    kind: 'markup',
    reason: 'hides the host of an address',
    find: finds(
      'https?://[^\\s/?#@()<>"\'`]{1,200}@[\\w.[]|https?://[^\\s/]{0,80}xn--|https?://(?:0x[\\da-f]+|\\d{8,10})(?:[/:\\s]|$)',
    ),
  },
];

const LINK =
  /\[\s*(?:https?:\/\/)?((?:[\w-]{1,60}\.){1,6}[a-z]{2,20})[^\]\n]{0,200}\]\(\s*<?https?:\/\/([^/\s)>]{1,200})/gu;

/** The first link whose text is an address at another host than it leads to. */
export function findFalseLink(text: string): string | undefined {
  for (const [link, shown = '', real = ''] of text.matchAll(LINK)) {
    if (/\.(?:md|ts|js|py|json|txt|ya?ml|html?|go|rs|sh)$/.test(shown)) continue; // the name of a file
    if (!real.replace(/:\d+$/, '').endsWith(shown.replace(/^www\./, ''))) return link;
  }
  return undefined;
}
