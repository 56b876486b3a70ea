import { randomUUID } from 'node:crypto';
import { Agent } from 'undici';
import { textTable } from '../../local/text-table.ts';
import { benchDatabase } from './bench-database.ts';
import { startBenchProcess } from './bench-process.ts';
import {
  ANSWER_HEADINGS,
  answerCells,
  CONNECTIONS,
  callAtRate,
  isAccepted,
  quantiles,
} from './calls-at-rate.ts';
import { residentMegabytes } from './process-memory.ts';
import { overHttp } from './read-ratio.ts';
import { seedRefundCases } from './seed-refund-cases.ts';

const CASES = 200;
const HIGHEST_RATE_SECONDS = 10;
const PERIOD_SECONDS = Number(process.env.OVERLOAD_SECONDS ?? 30);
const RECOVERY_SECONDS = 15;

/**
 * The public API at three times the highest rate of a read: accepted and refused requests, their latencies, memory, and
 * the time to recover. Each request has a free connection or a new one.
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
  const get = async () => {
    const { statusCode, headers, body } = await agent.request({ ...request, method: 'GET' });
    await body.dump();
    if (statusCode === 200) return 200;
    if (statusCode === 503 && headers['retry-after']) return 503;
    throw new Error(`answered ${statusCode}`);
  };
  const ask = async (name: string, perSecond: number, seconds: number) => {
    const answers = await callAtRate(get, perSecond, seconds);
    rows.push([name, ...answerCells(answers, seconds), residentMegabytes(child.pid!).toFixed(0)]);
    return answers;
  };
  await ask('half', highestRate / 2, PERIOD_SECONDS);
  await ask('three times', highestRate * 3, PERIOD_SECONDS);
  const startedAt = performance.now();
  const after = await ask('half, at once', highestRate / 2, RECOVERY_SECONDS);
  await ask('half, later', highestRate / 2, PERIOD_SECONDS);
  console.log(textTable([['', ...ANSWER_HEADINGS, 'process MB'], ...rows]));
  const seconds = Map.groupBy(after, ({ dueAt }) => Math.floor((dueAt - startedAt) / 1_000));
  const perSecond = [...seconds].map(([second, answers]) => [
    `${second}`,
    `${answers.filter((answer) => !isAccepted(answer)).length}`,
    quantiles(answers),
  ]);
  console.log(textTable([['second after it', 'not 200', 'p50/p99 ms'], ...perSecond]));
}
