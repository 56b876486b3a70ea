import { Publisher } from './event-publisher.ts';
import { type StartedSystem, startSystem } from './started-system.ts';
import { startSink, type WebhookSink } from './webhook-sink.ts';

/** The whole system, with a publisher and a receiver of its webhooks. */
export interface DeliveryBench {
  readonly system: StartedSystem;
  readonly sink: WebhookSink;
  readonly publisher: Publisher;
}

/**
 * Starts all three; the stack ends them.
 * @param connections the most connections of the publisher.
 */
export async function startDeliveryBench(
  stack: AsyncDisposableStack,
  settings: Record<string, string> = {},
  connections = 256,
): Promise<DeliveryBench> {
  const system = await startSystem(settings, stack);
  const sink = await startSink(system.certificate);
  stack.defer(() => sink.close());
  const publisher = new Publisher(system, connections);
  stack.defer(() => publisher.close());
  return { system, sink, publisher };
}
