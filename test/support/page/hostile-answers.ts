import { Hono } from 'hono';

const ACTS = ['executed=1', 'window.executed=1', '(()=>{executed=1})()', 'eval(`executed=1`)'];
const SHAPES: readonly ((act: string) => string)[] = [
  (act) => `<script>${act}</script>`,
  (act) => `</script><script>${act}</script>`,
  (act) => `<img src=x onerror="${act}">`,
  (act) => `"><img src=x onerror='${act}'>`,
  (act) => `<svg onload=${act}>`,
  (act) => `<svg><script>${act}</script></svg>`,
  (act) => `<iframe src="javascript:${act}">`,
  (act) => `<iframe srcdoc="<script>parent.${act}</script>">`,
  (act) => `<a href="javascript:${act}">x</a>`,
  (act) => `[x](javascript:${act})`,
  (act) => `![x](x"onerror="${act})`,
  (act) => `<body onload=${act}>`,
  (act) => `<details open ontoggle=${act}>`,
  (act) => `<input autofocus onfocus=${act}>`,
  (act) => `<math><mtext><img src=x onerror=${act}></mtext></math>`,
  (act) => `<style>@import 'javascript:${act}'</style>`,
  (act) => `<template><script>${act}</script></template>`,
  (act) => `--><script>${act}</script><!--`,
  (act) => `]]><script>${act}</script>`,
  (act) => `\\u003cscript\\u003e${act}\\u003c/script\\u003e`,
  (act) => `&lt;img src=x onerror=${act}&gt;`,
  (act) => `{{constructor.constructor('${act}')()}}`,
  (act) => `\${${act}}`,
  (act) => `<object data="data:text/html,<script>${act}</script>">`,
  (act) => `<form action="javascript:${act}"><button autofocus>`,
  (act) => `<base href="javascript:${act}//">`,
  (act) => `\u2028<script>${act}</script>\u202e`,
];

/** A hundred and more ways to be executed, in one text. The first one is short, so that a clipped text holds it. */
export const PAYLOADS = [
  '<img src=x onerror=executed=1>',
  ...SHAPES.flatMap((shape) => ACTS.map((act) => shape(act))),
].join(' ');

/** Fields that decide what is drawn; all others are texts of models, tasks and files. */
const KEPT =
  /^(type|kind|fate|verdict|split|on|op|status|change|phase|measuredBy|at|startedAt|modifiedAt|endedAt|cells|sourceType|metric|file|action|limit|reasonKind)$/;

function poison(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return KEPT.test(key) || value === PAYLOADS ? value : `${PAYLOADS} ${value}`;
  if (Array.isArray(value)) return value.map((one) => poison(one, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poison(one, name)]));
}

/** The same answers, with every text poisoned. */
export function hostile(app: Hono): Hono {
  const poisoned = new Hono();
  poisoned.all('*', async (c) => {
    const response = await app.fetch(c.req.raw);
    const type = response.headers.get('content-type') ?? '';
    if (type.includes('json')) return c.json(poison(await response.json()) as object, response.status as 200);
    if (!type.includes('event-stream')) return response;
    const page = await app.request(new URL(c.req.url).pathname.replace(/\/stream$/, ''));
    const data = JSON.stringify(poison(await page.json()));
    return new Response(`retry: 60000\nevent: page\ndata: ${data}\n\n`, { headers: response.headers });
  });
  return poisoned;
}
