import { createHash, randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { textTable } from '../../local/text-table.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { ListRefundCasesRequestSchema } from '../../proto/gen/payments/refunds/v1/refunds_pb.js';
import { benchDatabase } from './bench-database.ts';
import { startBenchProcess } from './bench-process.ts';
import { grpcMessage } from './publish-calls.ts';
import { type Measured, measureReadRatio, overGrpc, overHttp, type ReadRatio } from './read-ratio.ts';
import { seedRefundCases } from './seed-refund-cases.ts';

const CASES = 200;
const TOKEN = 'token-of-the-bench';
const LIST_RPC = '/payments.refunds.v1.RefundCaseService/ListRefundCases';
const HEADINGS = ['', 'ours/s', 'bare/s', 'ratio', 'p99 ratio', ''];
/** The least ratio of each page size, in one process. */
const LEAST: Readonly<Record<number, number>> = { 1: 0.75, 50: 0.85 };
const MOST_P99 = 1.5;
const LEAST_GRPC = 0.8;
const merchantId = randomUUID();

/** Starts a server's file; the folder of a checkout other than this one is BENCH_BEFORE. */
type Start = (file: string, more?: Record<string, string>, folder?: string) => Promise<string>;

/**
 * Requests per second of the hot read as a share of a bare server's, on one database, in one run. BENCH_BEFORE names the
 * folder of another checkout, whose gateway and services in two processes are measured in the same run.
 */
export async function benchReads(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const settings = {
    ...(await benchDatabase(stack)),
    SERVICE_TOKEN: TOKEN,
    SERVICE_TOKENS: `bench|${createHash('sha256').update(TOKEN).digest('hex')}|authenticate refunds:read`,
  };
  const headers = { authorization: `Bearer ${await seedRefundCases(settings, merchantId, CASES)}` };
  const start: Start = async (file, more, folder) => {
    const server = await startBenchProcess(file, { ...settings, ...more }, folder);
    stack.defer(() => void server.child.kill());
    return server.url;
  };
  const services = await start('internal-api-server.ts');
  const ours = await start('services-server.ts');
  const remote = await start('gateway-server.ts', { SERVICES_URL: services });
  const bare = await start('bare-server.ts');
  const bareRpc = await start('bare-cases-server.ts');
  const before = process.env.BENCH_BEFORE && (await startBefore(start, process.env.BENCH_BEFORE));
  console.log(`GET /v1/refund-cases, ${availableParallelism()} cores, ${CASES} cases`);
  const rows: string[][] = [];
  for (const limit of [1, 50]) {
    const publicApi = (url: string) => overHttp(`${url}/v1/refund-cases?limit=${limit}`, headers);
    const rpc = (url: string) => overGrpc(url, LIST_RPC, TOKEN, listRequest(limit));
    const bareApi = overHttp(`${bare}/refund-cases?merchant=${merchantId}&limit=${limit}`);
    const compare = async (name: string, ours: Measured, bare: Measured, least = 0) =>
      rows.push(rowOf(`limit=${limit}, ${name}`, await measureReadRatio(ours, bare), least));
    await compare('one process', publicApi(ours), bareApi, LEAST[limit]);
    if (before) await compare('over processes, before', publicApi(before), bareApi);
    await compare('over processes', publicApi(remote), bareApi);
    await compare('gRPC', rpc(services), rpc(bareRpc), LEAST_GRPC);
  }
  console.log(textTable([HEADINGS, ...rows]));
}

async function startBefore(start: Start, folder: string): Promise<string> {
  const SERVICES_URL = await start('internal-api-server.ts', {}, folder);
  return start('gateway-server.ts', { SERVICES_URL }, folder);
}

function rowOf(name: string, { ours, bare, ratio, p99Ratio }: ReadRatio, least: number): string[] {
  const faults = [
    ...(ratio < least ? [`BELOW ${least}`] : []),
    ...(least > 0 && p99Ratio > MOST_P99 ? [`P99 ABOVE ${MOST_P99}`] : []),
  ];
  return [name, ours.toFixed(0), bare.toFixed(0), ratio.toFixed(2), p99Ratio.toFixed(2), faults.join(', ')];
}

const listRequest = (pageSize: number): Buffer =>
  grpcMessage(ListRefundCasesRequestSchema, { merchantId, environment: Environment.LIVE, pageSize });
