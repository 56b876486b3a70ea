import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findFreePort } from '../../local/ports.ts';
import { startProgram } from '../support/program.ts';

const ERRORS_SHOWN = 5;
const START_ATTEMPTS = 3;

/** One environment of the running system: its address, the keys of two merchants, and a product of the first. */
export interface Target {
  readonly baseUrl: string;
  readonly productId: string;
  readonly keys: Readonly<Record<'merchant' | 'other', string>>;
}

/** What `npm start` has started. */
export interface WholeSystem extends AsyncDisposable {
  readonly targets: Readonly<Record<'live' | 'sandbox', Target>>;
  /** Its internal API, and the token of a caller with every grant. */
  readonly grpc: { readonly baseUrl: string; readonly token: string };
  /** The last failed requests and errors in its log, which explain a 5xx. */
  loggedErrors(): readonly string[];
}

/** A data folder that is deleted at the end of the scope. */
export function temporaryDataDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'payments-contract-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs `npm start` with these arguments on free ports, as a user would. Resolves once it says that it is ready. */
export async function startWholeSystem(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<WholeSystem> {
  const child = await startOnFreePorts({ DATA_DIR: dataDir, ...settings }, args);
  const { live, sandbox, other, grpc } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  return {
    targets: {
      live: targetOf(live, other.liveApiKey),
      sandbox: targetOf(sandbox, other.sandboxApiKey),
    },
    grpc,
    loggedErrors: () =>
      readFileSync(join(dataDir, 'logs/payments.log'), 'utf8')
        .split('\n')
        .filter((line) => line.includes('"level":50') || line.includes('"request failed"'))
        .slice(-ERRORS_SHOWN),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function targetOf(
  merchant: { baseUrl: string; productId: string; apiKey: string },
  otherKey: string,
): Target {
  const { baseUrl, productId, apiKey } = merchant;
  return { baseUrl, productId, keys: { merchant: apiKey, other: otherKey } };
}

/** Tries again when a port that was free has been taken since. */
async function startOnFreePorts(
  settings: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const temporalPort = await findFreePort();
    const [temporalUiPort, oidcPort] = [await findFreePort(), await findFreePort()];
    const ofThisRun = {
      ...process.env,
      LIVE_PORT: '0',
      SANDBOX_PORT: '0',
      GRPC_PORT: '0',
      OPS_PORT: '0',
      DEMO_RECEIVER_PORT: '0',
      TEMPORAL_PORT: String(temporalPort),
      TEMPORAL_UI_PORT: String(temporalUiPort),
      DASHBOARD_PORT: '0',
      OIDC_PORT: String(oidcPort),
      // Never a shared database, whatever the environment says.
      DATABASE_URL: '',
      TEMPORAL_ADDRESS: '',
      ...settings,
    };
    const { child } = startProgram(['local/start.ts', ...args], ofThisRun, {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (await isReady(child)) return child;
    if (attempt === START_ATTEMPTS) throw new Error('npm start ends before it is ready');
  }
}

/** False when it ended instead. */
async function isReady(child: ChildProcess): Promise<boolean> {
  let ready = false;
  for await (const line of createInterface({ input: child.stdout! })) {
    ready = line.startsWith('ready:');
    if (ready) break;
  }
  // Discards later output, so that the process never waits for a reader.
  child.stdout!.resume();
  return ready;
}
