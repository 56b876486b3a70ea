#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { Channel } from './channel.ts';
import { CommandFailure } from './command-failure.ts';
import { listen } from './listen.ts';
import { eventTypesOf, forwardUrlOf, readSettings } from './settings.ts';
import { tailEvents } from './tail-events.ts';

const USAGE = `Webhooks of the Merchant Payments sandbox on your own machine.

  npx merchant-payments listen --forward-to http://localhost:3000/hooks [--events <type>,<type>]
  npx merchant-payments trigger <event type>
  npx merchant-payments resend <event id>
  npx merchant-payments events tail [--events <type>,<type>]

  listen       forwards each webhook to a local server, signed, and prints the secret that verifies it
  trigger      publishes an event with example data
  resend       delivers an event again to every open listener of your company
  events tail  prints events as they are published, as JSON

  --api-key    a sandbox key with the scope webhooks:manage; default: MERCHANT_PAYMENTS_API_KEY
  --base-url   the sandbox; default: MERCHANT_PAYMENTS_BASE_URL, else http://127.0.0.1:8081
  --events     only these event types; default: all`;

const OPTIONS = {
  'api-key': { type: 'string' },
  'base-url': { type: 'string' },
  'forward-to': { type: 'string' },
  events: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const print = (line: string) => console.log(line);
const warn = (line: string) => console.error(line);

async function run(): Promise<void> {
  const { values, positionals } = parseCommand();
  const [command, ...names] = positionals;
  if (values.help || command === undefined) return print(USAGE);
  const eventTypes = eventTypesOf(values.events);
  const channel = () => new Channel(readSettings(values, process.env));
  switch (`${command} ${names.length}`) {
    case 'trigger 0':
      throw new CommandFailure(
        'Name the event type to publish: npx merchant-payments trigger refund.requested.v1. /docs lists all under Events.',
      );
    case 'resend 0':
      throw new CommandFailure(
        'Give the id of the event to deliver again: npx merchant-payments resend <event id>. `listen` prints it.',
      );
    case 'listen 0': {
      const forwardTo = forwardUrlOf(values['forward-to']);
      return listen(channel(), { forwardTo, eventTypes, signal: interruption(), print });
    }
    case 'trigger 1':
      return trigger(channel(), names[0]!);
    case 'resend 1':
      return resend(channel(), names[0]!);
    case 'events 1':
      if (names[0] === 'tail')
        return tailEvents(channel(), { eventTypes, signal: interruption(), print, warn });
  }
  throw new CommandFailure(`Unknown command: ${positionals.join(' ')}\n\n${USAGE}`);
}

function parseCommand() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new CommandFailure(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
  }
}

async function trigger(channel: Channel, type: string): Promise<void> {
  const { eventId } = (await channel.post('/cli/v1/events', { type })) as { eventId: string };
  print(`Published ${type} as ${eventId}.`);
}

async function resend(channel: Channel, eventId: string): Promise<void> {
  const { listenerCount } = (await channel.post('/cli/v1/resends', { eventId })) as { listenerCount: number };
  if (listenerCount === 0)
    throw new CommandFailure('No listener is open: start `merchant-payments listen` first.');
  print(`Sent ${eventId} again to ${listenerCount === 1 ? '1 listener' : `${listenerCount} listeners`}.`);
}

/** Aborted when the user stops a command that runs until then. The others end at once. */
function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  return interrupted.signal;
}

try {
  await run();
} catch (error) {
  if (!(error instanceof CommandFailure)) throw error;
  warn(error.message);
  process.exitCode = 1;
}
