import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent } from 'undici';
import { textTable } from '../../local/text-table.ts';
import { median, quantile } from '../support/quantile.ts';
import { benchDatabase } from './bench-database.ts';
import { startBenchProcess } from './bench-process.ts';
import { residentMegabytes } from './process-memory.ts';
import { overHttp } from './read-ratio.ts';
import { seedRefundCases } from './seed-refund-cases.ts';

const CASES = 200;
const HIGHEST_RATE_SECONDS = 10;
const PERIOD_SECONDS = Number(process.env.OVERLOAD_SECONDS ?? 30);
const RECOVERY_SECONDS = 15;
/** Twice the requests that the gateway serves at once. */
const CONNECTIONS = 2_000;
const HEADINGS = [
  '',
  'due/s',
  '200/s',
  '503/s',
  'not sent/s',
  'failed',
  '200: p50/p99 ms',
  '503: p50/p99 ms',
  'process MB',
];

interface Answer {
  /** When the request was due, by `performance.now()`. */
  readonly dueAt: number;
  readonly ms: number;
  readonly outcome: 200 | 503 | 'not sent' | 'failed';
}

/**
 * The public API at three times the highest rate of a read: accepted and refused requests, their latencies, memory, and
 * the time to recover. Requests come at their rate, however long responses take, each on a free connection or a new
 * one, up to CONNECTIONS; those that find none are not sent.
 */
export async function benchOverload(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const settings = await benchDatabase(stack);
  const merchantId = randomUUID();
  const authorization = `Bearer ${await seedRefundCases(settings, merchantId, CASES)}`;
  const { url, child } = await startBenchProcess('services-server.ts', settings);
  stack.defer(() => void child.kill());
  const agent = stack.adopt(new Agent({ connections: CONNECTIONS }), (agent) => agent.destroy());
  const request = { origin: url, path: '/v1/refund-cases?limit=50', headers: { authorization } };

  const measure = overHttp(`${url}${request.path}`, request.headers);
  await measure(HIGHEST_RATE_SECONDS);
  const highestRate = Math.round((await measure(HIGHEST_RATE_SECONDS)).perSecond);
  console.log(`GET /v1/refund-cases?limit=50: at most ${highestRate}/s over 32 connections`);
  const rows: string[][] = [];
  const ask = async (name: string, perSecond: number, seconds: number) => {
    const answers = await requestAtRate(agent, request, perSecond, seconds);
    rows.push(rowOf(name, answers, seconds, residentMegabytes(child.pid!)));
    return answers;
  };
  await ask('half', highestRate / 2, PERIOD_SECONDS);
  await ask('three times', highestRate * 3, PERIOD_SECONDS);
  const startedAt = performance.now();
  const after = await ask('half, at once', highestRate / 2, RECOVERY_SECONDS);
  await ask('half, later', highestRate / 2, PERIOD_SECONDS);
  console.log(textTable([HEADINGS, ...rows]));
  const seconds = Map.groupBy(after, ({ dueAt }) => Math.floor((dueAt - startedAt) / 1_000));
  const perSecond = [...seconds].map(([second, answers]) => [
    `${second}`,
    `${answers.filter(({ outcome }) => outcome !== 200).length}`,
    quantiles(answers),
  ]);
  console.log(textTable([['second after it', 'not 200', 'p50/p99 ms'], ...perSecond]));
}

async function requestAtRate(
  agent: Agent,
  request: { readonly origin: string; readonly path: string; readonly headers: Record<string, string> },
  perSecond: number,
  seconds: number,
): Promise<Answer[]> {
  const answers: Promise<Answer>[] = [];
  const startedAt = performance.now();
  let open = 0;
  const outcomeOf = async (): Promise<Answer['outcome']> => {
    if (open === CONNECTIONS) return 'not sent';
    open += 1;
    try {
      const { statusCode, headers, body } = await agent.request({ ...request, method: 'GET' });
      await body.dump();
      if (statusCode === 503 && headers['retry-after']) return 503;
      return statusCode === 200 ? 200 : 'failed';
    } catch {
      return 'failed';
    } finally {
      open -= 1;
    }
  };
  const ask = async (dueAt: number): Promise<Answer> => {
    const outcome = await outcomeOf();
    return { dueAt, outcome, ms: performance.now() - dueAt };
  };
  for (let now = startedAt; now < startedAt + seconds * 1_000; now = performance.now()) {
    const due = Math.ceil(((now - startedAt) / 1_000) * perSecond);
    while (answers.length < due) answers.push(ask(startedAt + (answers.length * 1_000) / perSecond));
    await delay(1);
  }
  return Promise.all(answers);
}

function rowOf(name: string, answers: readonly Answer[], seconds: number, megabytes: number): string[] {
  const of = (outcome: Answer['outcome']) => answers.filter((answer) => answer.outcome === outcome);
  const rate = (some: readonly Answer[]) => (some.length / seconds).toFixed(0);
  const counts = [answers, of(200), of(503), of('not sent')].map(rate);
  return [
    name,
    ...counts,
    `${of('failed').length}`,
    quantiles(of(200)),
    quantiles(of(503)),
    megabytes.toFixed(0),
  ];
}

function quantiles(answers: readonly Answer[]): string {
  if (answers.length === 0) return '';
  const times = answers.map(({ ms }) => ms);
  return `${median(times).toFixed(0)}/${quantile(times, 0.99).toFixed(0)}`;
}
