import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { PROBLEM_TYPES, type ProblemCode } from '../../gateway/problems/problem-types.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface Call {
  readonly method?: string;
  readonly key?: string;
  readonly headers?: Record<string, string | string[]>;
  /** Strings and bytes are sent unchanged, anything else as JSON with its content type. */
  readonly body?: unknown;
}

const agent = new Agent({ keepAlive: true });

/** One request over a real socket. */
export function call(
  port: number,
  path: string,
  { method, key, headers = {}, body }: Call = {},
): Promise<Answer> {
  const raw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const bytes = raw ? (body as string | Buffer | undefined) : JSON.stringify(body);
  const options = {
    host: '127.0.0.1',
    port,
    path,
    agent,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(!raw && { 'content-type': 'application/json' }),
      ...(bytes !== undefined && { 'content-length': Buffer.byteLength(bytes) }),
      ...headers,
    },
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = /json/.test(response.headers['content-type'] ?? '') && text !== '';
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}

/** Sends bytes that no HTTP client would send; returns everything received until the server closes. */
export async function sendRaw(port: number, bytes: string): Promise<Answer> {
  return parseAnswer(await exchange(port, bytes));
}

/** The same, as the bytes of all answers. */
export function exchange(port: number, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}

function parseAnswer(raw: string): Answer {
  const end = raw.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = raw.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const text = raw.slice(end + 4);
  return {
    status: Number(statusLine.split(' ')[1]),
    headers,
    text,
    json: text === '' ? undefined : JSON.parse(text),
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Expects the documented error body with this code, and a detail that names the fault. */
export function expectProblem(answer: Answer, code: ProblemCode, detail?: string | RegExp): void {
  expect(answer.text === '' ? answer : answer.json).toMatchObject({ code });
  const { status, title } = PROBLEM_TYPES[code];
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(Object.keys(answer.json)).toEqual([
    'type',
    'title',
    'status',
    'detail',
    'instance',
    'requestId',
    'code',
  ]);
  expect(answer.json).toMatchObject({ title, status });
  expect(answer.json.type).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/docs/errors#${code}$`));
  expectOwnHeaders(answer);
  expect(answer.json.requestId).toBe(answer.headers['request-id']);
  if (detail !== undefined) expect(answer.json.detail).toMatch(detail);
}

/** Expects the headers of every answer. */
export function expectOwnHeaders({ headers }: Pick<Answer, 'headers'>): void {
  expect(headers['request-id']).toMatch(UUID);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['access-control-allow-origin']).toBeUndefined();
}
