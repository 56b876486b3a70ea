import { Publisher } from './event-publisher.ts';
import { type StartedSystem, startSystem } from './started-system.ts';
import { startSink, type WebhookSink } from './webhook-sink.ts';

/** The whole system, with a publisher and a receiver of its webhooks. */
export interface DeliveryBench {
  readonly system: StartedSystem;
  readonly sink: WebhookSink;
  readonly publisher: Publisher;
}

/** Starts all three; the stack ends them. */
export async function startDeliveryBench(
  stack: AsyncDisposableStack,
  settings: Record<string, string> = {},
): Promise<DeliveryBench> {
  const system = await startSystem(settings, stack);
  const sink = await startSink(system.certificate);
  stack.defer(() => sink.close());
  const publisher = new Publisher(system);
  stack.defer(() => publisher.close());
  return { system, sink, publisher };
}
