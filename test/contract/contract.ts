// `npm run contract [-- --seed <number> --examples <number>]`: Schemathesis over the served OpenAPI document, against
// the whole system as `npm start` runs it.
import { parseArgs } from 'node:util';
import { startGateway } from './gateway-process.ts';
import { PythonMissing, pythonEnvironment } from './python-environment.ts';
import { schemathesis } from './schemathesis.ts';
import { startWholeSystem, type Target, temporaryDataDir } from './whole-system.ts';

/** Limits that no run reaches, so that it tests everything behind them. */
const RAISED_LIMITS = {
  RATE_LIMIT_LIVE: '1000000',
  RATE_LIMIT_SANDBOX: '1000000',
  RATE_LIMIT_ADDRESS: '1000000',
  WEBHOOK_SUBSCRIPTION_LIMIT: '10000',
};
/** Subscriptions of a run name made-up hosts: deliveries to them go to a port that nothing listens on. */
const NO_DELIVERIES = { WEBHOOK_EGRESS_PROXY: 'http://127.0.0.1:9' };

/** A limit that is reached on every machine. That of addresses would hide whether keys are asked for. */
const LOW_KEY_LIMIT = { RATE_LIMIT_SANDBOX: '5', RATE_LIMIT_ADDRESS: RAISED_LIMITS.RATE_LIMIT_ADDRESS };

const { values: options } = parseArgs({
  options: { seed: { type: 'string', default: '20261121' }, examples: { type: 'string', default: '25' } },
});

/** Tests both listeners without limits, then one beyond its limit. Returns the failures. */
async function contract(python: string): Promise<readonly string[]> {
  using dataDir = temporaryDataDir();
  const settings = { ...RAISED_LIMITS, ...NO_DELIVERIES };
  // Small demo data has every state of every record, so more of it finds nothing more.
  await using system = await startWholeSystem(dataDir.path, settings, '--small-demo-data');
  const failed: string[] = [];
  let seed = Number(options.seed);
  const check = async (name: string, target: Target, ...args: string[]) => {
    console.log(`\n# ${name} ${args.join(' ')}`);
    const holds = await schemathesis({ python, scratch: dataDir.path, target, seed, args });
    if (!holds) failed.push(`${name} ${args.join(' ')}`, ...system.loggedErrors());
    // Each run generates other cases.
    seed += 1;
  };
  const { live, sandbox } = system.targets;
  await check('sandbox', sandbox, '--auth-wfc-user', 'merchant', '--max-examples', options.examples);
  // The same code behind another document: what generation finds, it finds in the sandbox.
  await check('live', live, '--auth-wfc-user', 'merchant', '--phases', 'examples,coverage');
  await using limited = await startGateway(system.grpc, LOW_KEY_LIMIT);
  const beyondLimit = { ...sandbox, baseUrl: limited.sandboxUrl };
  // Calls as the merchant without subscriptions. Mostly getting 429 is expected here.
  const asOther = ['--auth-wfc-user', 'other', '--phases', 'examples,coverage', '--warnings', 'off'];
  await check('sandbox beyond its limit', beyondLimit, ...asOther);
  return failed;
}

try {
  const failed = await contract(pythonEnvironment());
  const again = `npm run contract -- --seed ${options.seed} --examples ${options.examples}`;
  console.log(
    failed.length === 0 ? '\nThe contract holds.' : `\nThe contract does not hold; again: ${again}`,
  );
  for (const line of failed) console.log(`  ${line}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof PythonMissing)) throw error;
  console.error(`The contract is not tested: ${error.message}.`);
  process.exitCode = process.env.CI ? 1 : 0;
}
