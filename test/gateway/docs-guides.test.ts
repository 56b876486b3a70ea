import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { readGuides } from '../../gateway/docs/guides.ts';
import type { ApiHost } from '../../gateway/openapi/api-host.ts';
import { PROBLEM_TYPES } from '../../gateway/problems/problem-types.ts';
import { advanceRequestListSchema } from '../../gateway/routes/advance-request.schema.ts';
import { fundsReleaseListSchema } from '../../gateway/routes/funds-release.schema.ts';
import { refundCaseListSchema } from '../../gateway/routes/refund-case.schema.ts';
import {
  OUTCOME_AFTER_MS,
  payoutOutcomeOf,
  RETURN_AFTER_MS,
  refundOutcomeOf,
} from '../../local/demo/connector/demo-outcomes.ts';
import { findFreePort } from '../../local/ports.ts';
import { Environment } from '../../proto/gen/payments/merchant/v1/merchant_pb.js';
import { API_KEY_SCOPES } from '../../services/platform/api-key-scopes.ts';
import { KEY_RINGS, readConfig } from '../../services/platform/process/config.ts';
import { signedHeaders, signingKey } from '../../services/webhooks/attempts/send-attempt.ts';
import { newMerchant, startGateways } from './gateway-harness.ts';
import { call } from './http-call.ts';
import { objectsIn } from './openapi-reader.ts';
import { seedMerchant } from './seed-merchant.ts';

/** Compares the guides with what the code does. */

const host: ApiHost = {
  environment: 'live',
  baseUrl: 'https://api.payments.example',
  otherUrl: 'https://sandbox.payments.example',
  dashboardUrl: 'https://dashboard.payments.example',
  egressAddresses: ['203.0.113.0/28', '2001:db8::/64'],
  keyLimit: 42,
  addressLimit: 17,
  requestTimeoutMs: 12_000,
};
const guides = readGuides(host, []);
const defaults = readConfig({}, { unused: KEY_RINGS });

const UNITS = { s: 1_000, min: 60_000, h: 3_600_000 } as const;

describe('the guides', () => {
  it('contain the samples that the tests run, without unfilled placeholders', () => {
    for (const file of [
      'receive-webhooks.mjs',
      'verify-webhook.ts',
      'verify_webhook.py',
      'verify_webhook.go',
      'WebhookVerifier.java',
      'verify_webhook.php',
    ]) {
      const sample = new URL(`../../gateway/docs/verify-webhook/${file}`, import.meta.url);
      expect(guides).toContain(readFileSync(sample, 'utf8').trimEnd());
    }
    expect(guides).not.toContain('<!--');
    expect(guides).not.toContain('{{');
  });

  it('name the outcomes by amount that the simulated provider has', () => {
    const endings = (heading: string) =>
      guides
        .split(`## ${heading}`)[1]!
        .split('## ')[0]!
        .match(/(?<=^\| `)\d\d(?=`)/gm);
    const having = (isSpecial: (amount: bigint) => boolean) =>
      Array.from({ length: 100 }, (_, ending) => ending)
        .filter((ending) => isSpecial(1_000n + BigInt(ending)))
        .map((ending) => String(ending).padStart(2, '0'));
    expect(endings('Outcomes of refunds by amount')).toEqual(
      having((amount) => refundOutcomeOf(amount) !== 'SUCCEEDS'),
    );
    expect(endings('Payouts of advances by net amount')).toEqual(
      having((amount) => payoutOutcomeOf(amount) !== 'ACCEPTED'),
    );
    for (const afterMs of [OUTCOME_AFTER_MS, RETURN_AFTER_MS]) {
      expect(guides).toContain(` after ${afterMs / 1_000} s`);
    }
  });

  it('list every error with its status', () => {
    for (const [code, { status }] of Object.entries(PROBLEM_TYPES)) {
      expect(guides).toContain(`| ${status} | [\`${code}\`](/docs/errors#${code}) | `);
    }
  });

  it('list every scope', () => {
    const [, table = ''] = guides.split('## Scopes');
    const listed = table.split('## ')[0]!.match(/(?<=^\| `)[a-z:]+(?=`)/gm);
    expect(listed).toEqual(Object.keys(API_KEY_SCOPES));
  });

  it.each([
    ['live', defaults.WEBHOOK_SCHEDULE_LIVE],
    ['sandbox', defaults.WEBHOOK_SCHEDULE_SANDBOX],
  ])('give the times at which a %s delivery is retried', (environment, [first, ...waits]) => {
    const [, said = ''] = guides.match(new RegExp(`^\\| ${environment} \\| ([0-9].*) \\|$`, 'm')) ?? [];
    const saidMs = said.split(', ').map((wait) => {
      const [count, unit] = wait.split(' ') as [string, keyof typeof UNITS];
      return Number(count) * UNITS[unit];
    });
    expect(first).toBe(0);
    expect(saidMs).toEqual(waits);
  });

  it('give the address of the host, its limits, and the address of the other environment', () => {
    const oneLine = guides.replaceAll('\n', ' ');
    expect(guides).toContain('API=https://api.payments.example\nKEY=mpk_live_…\n');
    expect(guides).toContain('| live | https://api.payments.example (this host) | `mpk_live_` | `"live"` |');
    expect(guides).toContain('| sandbox | https://sandbox.payments.example | `mpk_test_` | `"test"` |');
    expect(oneLine).toContain('may make 42 requests a second');
    expect(guides).toContain('RateLimit-Policy: "key";q=42;w=1\nRateLimit: "key";r=35;t=1\n');
    expect(oneLine).toContain('limited by address: 17 a second');
    expect(oneLine).toContain('completely within 12 seconds');
    expect(guides).toContain('[dashboard](https://dashboard.payments.example)');
    expect(guides).toContain('deliveries come from `203.0.113.0/28`, `2001:db8::/64`');
    const unset = { otherUrl: undefined, dashboardUrl: undefined, egressAddresses: [] };
    const sandbox = readGuides({ ...host, ...unset, environment: 'test' }, []);
    expect(sandbox).toContain('Deliveries have no fixed source addresses');
    expect(sandbox).not.toContain('(undefined)');
    expect(sandbox).toContain('| live | a separate host |');
    expect(sandbox).toContain('"environment": "test"');
    expect(sandbox.match(/mpk_live_…|"environment": "live"/g)).toBeNull();
  });

  it('list the transitions of each status of a refund case, an advance request and a release', () => {
    const statuses = (schema: { response: { 200: unknown } }) =>
      [...objectsIn(schema.response[200])].flatMap(([at, { enum: names }]) =>
        names && at.at(-1) === 'status' ? [names] : [],
      );
    for (const [title, schema] of [
      ['Refund cases', refundCaseListSchema],
      ['Funds releases', fundsReleaseListSchema],
      ['Advance requests', advanceRequestListSchema],
    ] as const) {
      const table = guides.split(`## ${title}\n\n`)[1]!.split('\n\n')[0]!;
      const said = [...table.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, status]) => status);
      expect(statuses(schema)).toEqual([expect.arrayContaining(said)]);
      expect(new Set(said)).toEqual(new Set(statuses(schema)[0]));
    }
  });

  it('list what is deprecated, or say that nothing is', () => {
    const deprecation = { since: '2027-01-01', sunset: '2028-07-01', link: '/docs/#tag/catalog' };
    const schema = { ...refundCaseListSchema, deprecation };
    const said = readGuides(host, [{ method: 'GET', url: '/v1/refund-cases', schema }]);
    expect(said).toContain(
      '| `GET /v1/refund-cases` | 2027-01-01 | 2028-07-01 | [details](/docs/#tag/catalog) |',
    );
    expect(said).not.toContain('No operation is deprecated.');
    expect(guides).toContain('No operation is deprecated.');
  });
});

/** The fenced blocks of a guide, by its heading, in a language. */
function blocksOf(heading: string, language: string, text = guides): string[] {
  const start = text.indexOf(`\n# ${heading}\n`) + 1;
  const section = text.slice(start).split(/\n# /)[0]!;
  return [...section.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, code]) => code!,
  );
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs commands of a guide where the receiver has been saved, until the test ends. */
function shell(commands: string, settings: Readonly<Record<string, string>>) {
  // The command that npx runs, without its search for the package.
  const npx = `npx() { shift; node ${ROOT}/cli/merchant-payments.ts "$@"; }`;
  const env = { ...process.env, ...settings, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const child = spawn('bash', ['-euc', `${npx}\n${commands}`], {
    cwd: join(ROOT, 'gateway/docs/verify-webhook'),
    env,
    detached: true,
  });
  // Ends the shell and its child processes.
  onTestFinished(() => void (child.exitCode === null && process.kill(-child.pid!, 'SIGKILL')));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const printed = async (pattern: RegExp) => {
    await expect.poll(() => output).toMatch(pattern);
    return pattern.exec(output)!;
  };
  return { printed };
}

describe('the snippets of the guides', async () => {
  const gateways = await startGateways();
  afterAll(() => gateways.close());
  const merchant = await newMerchant(gateways);
  /** The variables that getting started has its reader set. */
  const env = { ...process.env, API: `http://127.0.0.1:${gateways.ports.test}`, KEY: merchant.keys.test };
  /** As the sandbox of this test serves them. */
  const served = `\n${(await call(gateways.ports.test, '/openapi.json')).json.info.description}`;
  const get = (path: string, key = merchant.keys.test) => call(gateways.ports.test, path, { key });

  it('are all in a language that these tests or those of the samples run', () => {
    const languages = [...guides.matchAll(/^```(\S+)$/gm)].map(([, language]) => language);
    expect(new Set(languages)).toEqual(
      new Set([
        'sh',
        'shell',
        'ts',
        'javascript',
        'http',
        'json',
        'text',
        'typescript',
        'python',
        'go',
        'java',
        'php',
      ]),
    );
    // Each of these is run below; another needs a test.
    const counts = ['sh', 'shell', 'ts', 'javascript', 'http', 'json', 'text'].map(
      (language) => [language, languages.filter((one) => one === language).length] as const,
    );
    expect(Object.fromEntries(counts)).toEqual({
      sh: 4,
      shell: 4,
      ts: 2,
      javascript: 1,
      http: 4,
      json: 3,
      text: 3,
    });
  });

  it.skipIf(spawnSync('curl', ['--version']).status !== 0)('sh: getting started works verbatim', async () => {
    const [setting = '', ...commands] = blocksOf('Getting started', 'sh');
    expect(setting).toMatch(/^API=.*\nKEY=mpk_live_/);
    const answers: unknown[] = [];
    // The last command is sent again, as the guide says.
    for (const command of [...commands, ...commands.slice(-1)]) {
      const { stdout } = await promisify(execFile)('sh', ['-euc', command], { env });
      answers.push(JSON.parse(stdout));
    }
    expect(answers).toMatchObject([
      { data: [], hasMore: false, nextCursor: null },
      { state: 'PENDING', environment: 'test' },
      answers[1],
    ]);
  });

  /** Runs a snippet with the typed client, with variables that its reader has set; returns what it printed. */
  async function runTypeScript(snippet: string, variables: Readonly<Record<string, string>>, more = '') {
    const set = `const { ${Object.keys(variables).join(', ')} } = process.env;`;
    const source = JSON.stringify(`${ROOT}/client/index.ts`);
    const code = stripTypeScriptTypes(
      `${set}\n${snippet.replace("'merchant-payments-client'", source)}\n${more}`,
    );
    const args = ['--input-type=module', '--eval', code];
    return promisify(execFile)(process.execPath, args, { env: { ...process.env, ...variables } });
  }

  it('ts: the typed client calls the API', async () => {
    const { merchantId, keys } = await newMerchant(gateways);
    const seed = seedMerchant(gateways.harness.transports.inProcess, merchantId, Environment.TEST);
    const { id } = await seed.refundCase();
    const [program = ''] = blocksOf('Getting started', 'ts');
    const variables = { API: `http://127.0.0.1:${gateways.ports.test}`, KEY: keys.test };
    const { stdout, stderr } = await runTypeScript(program, variables);
    expect(stdout).toMatch(new RegExp(`^${id} [A-Z_]+\n$`));
    expect(stderr).toContain('npx merchant-payments listen');
  });

  it('ts: the typed client verifies a webhook, and refuses a forged one', async () => {
    const [handler = ''] = blocksOf('Webhook deliveries', 'ts');
    const [SECRET, FORMER_SECRET, forger] = [1, 2, 3].map(
      () => `whsec_${randomBytes(32).toString('base64')}`,
    );
    const body = JSON.stringify({ type: 'refund.requested.v1', data: { amount: 4_990 } });
    const unsigned = { eventId: 'e1', startedAt: new Date(), body: Buffer.from(body) };
    const requests = [FORMER_SECRET!, forger!].map((secret) => ({
      method: 'POST',
      body,
      headers: signedHeaders({ ...unsigned, keys: [signingKey(secret)] }),
    }));
    const deliver = `for (const init of ${JSON.stringify(requests)}) {
      console.log((await POST(new Request('https://shop.example/hooks', init))).status);
    }`;
    const variables = { SECRET: SECRET!, FORMER_SECRET: FORMER_SECRET! };
    expect((await runTypeScript(handler, variables, deliver)).stdout).toBe('4990\n204\n400\n');
  });

  it('shell: the first webhook arrives on this machine and is verified, and a forged one refused', async () => {
    const port = String(await findFreePort());
    const [listen = '', run = '', trigger = ''] = blocksOf('Getting started', 'shell', served);
    expect(blocksOf('Webhook deliveries', 'sh', served)).toEqual([listen]);
    const listener = shell(
      listen.replace('mpk_test_…', merchant.keys.test).replace(':3000/', `:${port}/`),
      {},
    );
    const [, secret = ''] = await listener.printed(/^Signing secret: (whsec_\S+)$/m);
    const [, start = ''] = run.trimEnd().split('\n');
    const receiver = shell(start.replace('whsec_…', secret), { PORT: port });
    await receiver.printed(/^listening on /m);
    shell(trigger.replace('mpk_test_…', merchant.keys.test), {});
    await receiver.printed(/^verified refund\.requested\.v1 [0-9a-f-]{36}$/m);
    const event = blocksOf('Webhook deliveries', 'json')[0]!;
    const { id } = JSON.parse(event);
    const keys = [signingKey(`whsec_${randomBytes(32).toString('base64')}`)];
    const headers = signedHeaders({ eventId: id, startedAt: new Date(), body: Buffer.from(event), keys });
    const forged = await fetch(`http://localhost:${port}`, { method: 'POST', headers, body: event });
    expect(forged.status).toBe(400);
  });

  it('http: requests are accepted and responses have the headers', async () => {
    const [authorization = ''] = blocksOf('Authentication', 'http', served);
    const [name, value] = authorization.trim().split(': ');
    const headers = { [name!]: value!.replace('mpk_test_…', merchant.keys.test) };
    const answer = await call(gateways.ports.test, '/v1/refund-cases', { headers });
    expect(answer.status).toBe(200);
    const [limits = ''] = blocksOf('Rate limits', 'http', served);
    const [policy, left] = limits.trim().split('\n');
    expect(`RateLimit-Policy: ${answer.headers['ratelimit-policy']}`).toBe(policy);
    expect(`RateLimit: ${answer.headers.ratelimit}`.replace(/r=\d+/, '')).toBe(left!.replace(/r=\d+/, ''));
  });

  it('json and text: bodies are those of the API, and the paths can be requested', async () => {
    const [problem = ''] = blocksOf('Errors', 'json', served);
    const { requestId: _, ...shown } = JSON.parse(problem);
    expect((await get('/v1/refund-cases?limit=101')).json).toMatchObject(shown);
    const [page = ''] = blocksOf('Pagination', 'json', served);
    const [paths = ''] = blocksOf('Pagination', 'text', served);
    const requests = paths
      .trim()
      .split('\n')
      .map((line) => line.replace(/^GET /, '').replace(/&after=.*/, ''));
    for (const path of requests)
      expect(Object.keys((await get(path)).json)).toEqual(Object.keys(JSON.parse(page)));
    const [keys = ''] = blocksOf('Authentication', 'text', served);
    expect(merchant.keys.test).toMatch(new RegExp(keys.trim()));
    const [event = ''] = blocksOf('Webhook deliveries', 'json', served);
    const { id, ...members } = JSON.parse(event);
    expect(Object.keys(members)).toEqual([
      'type',
      'timestamp',
      'environment',
      'requestId',
      'sequence',
      'data',
    ]);
    const [delivery = ''] = blocksOf('Webhook deliveries', 'http', served);
    expect(delivery).toContain(`\nwebhook-id: ${id}\n`);
  });
});
