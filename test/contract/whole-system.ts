import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../local/ports.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One environment of the running system: its address, the keys of two merchants, and a product of the first. */
export interface Target {
  readonly baseUrl: string;
  readonly productId: string;
  readonly keys: Readonly<Record<'merchant' | 'other', string>>;
}

/** What `npm start` has started. */
export interface WholeSystem extends AsyncDisposable {
  readonly targets: Readonly<Record<'live' | 'sandbox', Target>>;
}

/** A data folder of its own that goes with the scope. */
export function temporaryDataDir(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'payments-contract-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Runs `npm start` on free ports, as a user would. Resolves once it says that it is ready. */
export async function startWholeSystem(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<WholeSystem> {
  const [temporalPort, temporalUiPort] = [await findFreePort(), await findFreePort()];
  const child = spawn(process.execPath, ['local/start.ts'], {
    cwd: ROOT,
    env: {
      ...process.env,
      ...{ LIVE_PORT: '0', SANDBOX_PORT: '0', GRPC_PORT: '0', OPS_PORT: '0', DEMO_RECEIVER_PORT: '0' },
      ...{ TEMPORAL_PORT: String(temporalPort), TEMPORAL_UI_PORT: String(temporalUiPort) },
      DATA_DIR: dataDir,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await whenReady(child);
  const { live, sandbox, other } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  return {
    targets: {
      live: targetOf(live, other.liveApiKey),
      sandbox: targetOf(sandbox, other.sandboxApiKey),
    },
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

async function whenReady(child: ChildProcess): Promise<void> {
  const said: string[] = [];
  for await (const line of createInterface({ input: child.stdout! })) {
    said.push(line);
    if (line.startsWith('ready:')) break;
  }
  if (!said.at(-1)?.startsWith('ready:')) {
    throw new Error(`npm start ended before it was ready:\n${said.join('\n')}`);
  }
  // What it says from now on is let go, so that it never waits for a reader.
  child.stdout!.resume();
}
