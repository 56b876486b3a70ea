import { benchCaseLists } from './case-lists-bench.ts';
import { benchFundsReads } from './funds-bench.ts';
import { benchGrowth } from './growth-bench.ts';
import { benchHosts } from './hosts-bench.ts';
import { benchLists } from './lists-bench.ts';
import { benchOverload } from './overload-bench.ts';
import { benchOwners } from './owners-bench.ts';
import { benchPublish } from './publish-bench.ts';
import { benchPublishOverload } from './publish-overload-bench.ts';
import { benchReads } from './read-bench.ts';
import { benchRest } from './rest-bench.ts';
import { benchRetention } from './retention-bench.ts';
import { benchSales } from './sales-bench.ts';
import { benchSoak } from './soak-bench.ts';
import { benchTracing } from './tracing-bench.ts';
import { benchWebhookLists } from './webhook-lists-bench.ts';
import { benchWebhooks } from './webhooks-bench.ts';

/** `npm run bench`: all short parts, or those named: `npm run bench -- funds`. */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  rest: benchRest,
  reads: benchReads,
  tracing: benchTracing,
  funds: benchSales,
  publish: benchPublish,
  retention: benchRetention,
  webhooks: benchWebhooks,
  growth: benchGrowth,
  size: async () => {
    await benchCaseLists();
    await benchLists();
    await benchWebhookLists();
    await benchFundsReads();
  },
  hosts: benchHosts,
  owners: benchOwners,
  overload: benchOverload,
  'publish-overload': benchPublishOverload,
  soak: benchSoak,
};

/** They take a quarter of an hour or more, so they run only when named. */
const LONG = new Set(['growth', 'size', 'soak']);

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
  process.exit(2);
}
for (const name of named.length > 0 ? named : Object.keys(PARTS).filter((name) => !LONG.has(name)))
  await PARTS[name]!();
