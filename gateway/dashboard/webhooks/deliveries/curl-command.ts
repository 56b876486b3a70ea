import type { SentRequest } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';

/** Headers that curl sends by itself. */
const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length']);

/** A command that sends a request again, byte for byte, for any POSIX shell. */
export function curlCommand({ url, headers }: SentRequest, body: string): string {
  const options = headers
    .filter(({ name }) => !OF_THE_CONNECTION.has(name))
    .map(({ name, value }) => `--header ${quoted(`${name}: ${value}`)}`);
  // Globbing would read brackets and braces in the URL, --data a body that begins with an at sign.
  return [`curl --globoff --request POST ${quoted(url)}`, ...options, `--data-raw ${quoted(body)}`].join(
    ' \\\n  ',
  );
}

/** Within single quotes the shell reads no character but the quote itself. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
