import { type Client, createClient } from '@connectrpc/connect';
import {
  PayoutProviderService,
  RefundProviderService,
} from '../proto/gen/payments/providers/v1/providers_pb.js';
import type { Config } from '../services/platform/process/config.ts';
import { connectGrpc } from '../services/platform/rpc/remote-transport.ts';

export type ProviderConfig = Pick<
  Config,
  'REFUND_PROVIDER_URL' | 'REFUND_PROVIDER_TOKEN' | 'PAYOUT_PROVIDER_URL' | 'PAYOUT_PROVIDER_TOKEN'
>;

/** The providers that this worker submits to; undefined if not configured. */
export interface ProviderClients {
  readonly refundProvider: Client<typeof RefundProviderService> | undefined;
  readonly payoutProvider: Client<typeof PayoutProviderService> | undefined;
  close(): void;
}

/** Creates connections to the configured providers, which the first call opens. */
export function connectProviders(config: ProviderConfig): ProviderClients {
  const connect = (url: string | undefined, token = '') =>
    url === undefined ? undefined : connectGrpc(url, token);
  const refund = connect(config.REFUND_PROVIDER_URL, config.REFUND_PROVIDER_TOKEN);
  const payout = connect(config.PAYOUT_PROVIDER_URL, config.PAYOUT_PROVIDER_TOKEN);
  return {
    refundProvider: refund && createClient(RefundProviderService, refund.transport),
    payoutProvider: payout && createClient(PayoutProviderService, payout.transport),
    close() {
      refund?.close();
      payout?.close();
    },
  };
}
