import type { Client } from '@connectrpc/connect';
import type { AccountService } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import type { Config } from '../../../services/platform/process/config.ts';
import type { GatewayApp } from '../../gateway-app.ts';
import type { RateLimit } from '../../rate-limits/rate-limit.ts';
import type { SessionGuard } from '../session/session-guard.ts';

/** The settings that the dashboard needs. */
export type DashboardConfig = Pick<
  Config,
  | 'HOST'
  | 'PUBLIC_URL_DASHBOARD'
  | 'PUBLIC_URL_LIVE'
  | 'PUBLIC_URL_SANDBOX'
  | 'WEBHOOK_EGRESS_ADDRESSES'
  | 'SUPPORT_CONTACT'
  | 'TRUSTED_PROXIES'
  | 'HTTP_REQUEST_TIMEOUT'
  | 'RATE_LIMIT_ADDRESS'
  | 'RATE_LIMIT_STORE'
  | 'SIGN_IN_LIMIT_ADDRESS'
  | 'DATABASE_URL'
  | 'DATABASE_PREPARED_STATEMENTS'
  | 'OIDC_ISSUER'
  | 'OIDC_CLIENT_ID'
  | 'OIDC_CLIENT_SECRET'
>;

/** What features without a merchant register their routes with. Those of merchants get {@link Pages} instead. */
export interface RouteDependencies {
  readonly app: GatewayApp;
  readonly guard: SessionGuard;
  /** Calls across merchants: pages of a merchant have no such client. */
  readonly accounts: Client<typeof AccountService>;
  readonly config: DashboardConfig;
  readonly signInLimit: RateLimit;
  /** The dashboard's public URL; callable once it listens. */
  readonly baseUrl: () => string;
}
