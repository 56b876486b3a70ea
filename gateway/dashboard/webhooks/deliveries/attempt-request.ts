import type {
  Attempt,
  HttpHeader,
  SentRequest,
} from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';
import { copyableBlock } from '../../shell/components.ts';
import { type Html, html, nothing } from '../../shell/html.ts';
import { textsFor, type View } from '../../shell/view.ts';
import { attemptRequestTexts } from './attempt-request.texts.ts';
import { deliveriesTexts } from './deliveries.texts.ts';

/** Headers that curl adds itself. */
const CONNECTION_HEADERS = new Set(['host', 'connection', 'content-length']);

/** How long each step of an attempt took; empty when that is not known. */
export function timingText(view: View, { timing, latencyMs }: Attempt): Html {
  if (!timing || latencyMs === undefined) return nothing;
  const t = textsFor(view, attemptRequestTexts);
  const { milliseconds } = textsFor(view, deliveriesTexts);
  const { dnsMs, connectMs, tlsMs, firstByteMs } = timing;
  const steps = [
    [t.dns, dnsMs],
    [t.connect, connectMs],
    [t.tls, tlsMs],
    [t.firstByte, firstByteMs],
    [t.total, latencyMs],
  ] as const;
  const words = steps.flatMap(([name, ms]) =>
    ms === undefined ? [] : [`${name} ${milliseconds(view.format.number(ms))}`],
  );
  if (dnsMs === undefined && firstByteMs !== undefined) words.unshift(t.reused);
  return html`<p class="soft">${words.join(' · ')}</p>`;
}

/**
 * The request as sent and the headers of the response, collapsed. The newest attempt also has its body and a command
 * that sends it again.
 * @param body the same for all attempts; undefined once it has been deleted.
 */
export function requestDetails(
  view: View,
  attempt: Attempt,
  body: string | undefined,
  isNewest: boolean,
): Html {
  const { request, responseHeaders, number } = attempt;
  if (!request) return nothing;
  const t = textsFor(view, attemptRequestTexts);
  const target = request.url === '' ? undefined : new URL(request.url);
  const line = target ? `POST ${target.pathname}${target.search} HTTP/1.1` : 'POST';
  return html`<details data-key="request-${number}"><summary>${t.request}</summary>
${target ? nothing : html`<p class="soft">${t.urlChanged}</p>`}
<pre>${line}
${headerLines(request.headers)}${
  isNewest && body !== undefined
    ? html`

${body}`
    : nothing
}</pre>
${responseHeaders.length > 0 ? html`<p>${t.responseHeaders}</p><pre>${headerLines(responseHeaders)}</pre>` : nothing}
${
  isNewest && target && body !== undefined
    ? html`<p>${t.curl}</p><p class="hint">${t.curlHint}</p>${copyableBlock(view, curlCommand(request, body))}`
    : nothing
}</details>`;
}

const headerLines = (headers: readonly HttpHeader[]) =>
  headers.map(({ name, value }) => `${name}: ${value}`).join('\n');

/** A command that sends a request again, byte for byte, for any POSIX shell. */
function curlCommand({ url, headers }: SentRequest, body: string): string {
  const options = headers
    .filter(({ name }) => !CONNECTION_HEADERS.has(name))
    .map(({ name, value }) => `--header ${quoted(`${name}: ${value}`)}`);
  // Globbing would interpret brackets and braces in the URL; --data would read a body that starts with @ as a file
  // name.
  return [`curl --globoff --request POST ${quoted(url)}`, ...options, `--data-raw ${quoted(body)}`].join(
    ' \\\n  ',
  );
}

/** Within single quotes, the shell interprets no character but the quote itself. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
