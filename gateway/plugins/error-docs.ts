import type { GatewayApp, RouteDependencies } from '../gateway-app.ts';
import { PROBLEM_TYPES } from '../problem-types.ts';

/** Where the `type` of every problem points, below the public URL. */
export const ERROR_DOCS_PATH = '/docs/errors';

/** Serves the catalogue of errors, one entry per code: plain, without scripts and styles. */
export function serveErrorDocs(app: GatewayApp, { access }: Pick<RouteDependencies, 'access'>): void {
  const html = errorDocs();
  app.get(ERROR_DOCS_PATH, { onRequest: access.open('readErrorDocs') }, (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('cache-control', 'public, max-age=300').send(html),
  );
}

function errorDocs(): string {
  const entries = Object.entries(PROBLEM_TYPES).map(
    ([code, { status, title, meaning }]) =>
      `<section id="${code}"><h2>${code}</h2><p><strong>${status} ${escaped(title)}</strong></p><p>${escaped(meaning)}</p></section>`,
  );
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Errors</title></head><body><main>',
    '<h1>Errors</h1>',
    '<p>Every error is answered as application/problem+json. Its <code>type</code> opens the entry here.</p>',
    ...entries,
    '</main></body></html>',
  ].join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
