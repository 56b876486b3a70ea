import type { SentRequest } from '../../../../proto/gen/payments/webhooks/v1/webhooks_pb.js';

/** Headers that curl adds itself. */
const CONNECTION_HEADERS = new Set(['host', 'connection', 'content-length']);

/** A command that sends a request again, byte for byte, for any POSIX shell. */
export function curlCommand({ url, headers }: SentRequest, body: string): string {
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
