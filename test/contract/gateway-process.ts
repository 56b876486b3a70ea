import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../../local/ports.ts';
import { startProgram } from '../support/program.ts';
import type { WholeSystem } from './whole-system.ts';

const START_TIMEOUT_MS = 120_000;

/** A gateway in its own process, until it is disposed of. */
export interface GatewayProcess extends AsyncDisposable {
  readonly sandboxUrl: string;
}

/** Starts a gateway of these settings in front of the services of a running system. Resolves when it answers. */
export async function startGateway(
  { baseUrl, token }: WholeSystem['grpc'],
  settings: Readonly<Record<string, string>>,
): Promise<GatewayProcess> {
  const port = await findFreePort();
  const sandboxUrl = `http://127.0.0.1:${port}`;
  const program = startProgram('gateway/main.ts', {
    HOST: '127.0.0.1',
    LIVE_PORT: '0',
    SANDBOX_PORT: String(port),
    OPS_PORT: '0',
    LOG_LEVEL: 'fatal',
    SERVICES_URL: baseUrl,
    SERVICE_TOKEN: token,
    ...settings,
  });
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(sandboxUrl))) {
    if (program.errors() || Date.now() > giveUpAt) {
      await program.kill();
      throw new Error(`the gateway does not start: ${program.errors()}`);
    }
    await delay(100);
  }
  return { sandboxUrl, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/openapi.json`).then(
    (response) => response.ok,
    () => false,
  );
