import { Code } from '@connectrpc/connect';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GatewayApp } from '../../gateway-app.ts';
import { isSessionError, type SessionGuard } from '../session/session-guard.ts';
import { referrerPathOf } from '../sign-in/return-path.ts';
import { failureTexts } from './failures.texts.ts';
import { codeOf, type Failure, failureOf, noSuchPage } from './failures.ts';
import { html, nothing } from './html.ts';
import { sendPage } from './layout.ts';
import { textsFor } from './view.ts';

/** Responds to every error with a page that explains it to the reader and reveals nothing about its cause. */
export function handleFailures(app: GatewayApp, guard: SessionGuard): void {
  app.setErrorHandler(async (error, request, reply) => {
    const failure = failureOf(error);
    // The session may end between the check of a request and its write.
    if (isSessionError(failure.cause)) return guard.redirectToSignIn(request, reply);
    if (failure.status >= 500) request.log.error({ err: error, requestId: request.id }, 'page failed');
    return sendFailure(guard, failure, request, reply);
  });
  app.setNotFoundHandler((request, reply) => sendFailure(guard, noSuchPage(), request, reply));
}

function sendFailure(guard: SessionGuard, failure: Failure, request: FastifyRequest, reply: FastifyReply) {
  const view = request.view ?? guard.plainViewOf(request);
  const t = textsFor(view, failureTexts);
  const back = backPath(request);
  const body = html`<p>${failure.text[view.language]}</p>
${isUnsure(failure, request) ? html`<p>${t.unsure}</p>` : nothing}
<p>${back ? html`<a href="${back}">${t.back}</a> · ` : nothing}<a href="/">${t.home}</a></p>
<p class="hint">${t.reference} <code>${request.id}</code></p>`;
  return sendPage(reply, view, { title: t.heading, body, status: failure.status });
}

/** Whether a form may have taken effect although the services did not respond. */
function isUnsure({ cause }: Failure, { method }: FastifyRequest): boolean {
  const code = codeOf(cause);
  return method === 'POST' && (code === Code.Unavailable || code === Code.DeadlineExceeded);
}

/** The referring page; undefined when the home link leads there already. */
function backPath(request: FastifyRequest): string | undefined {
  const path = referrerPathOf(request);
  return path === request.url || path === '/' ? undefined : path;
}
