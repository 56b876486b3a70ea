import type { Config } from '../../../services/platform/process/config.ts';
import type { SignInLimit } from '../../rate-limits/rate-limits.ts';
import type { DashboardApp } from '../dashboard-app.ts';
import type { DashboardClients } from '../dashboard-clients.ts';
import type { SessionGuard } from '../session/session-guard.ts';
import type { Pages } from './pages.ts';

/** The settings that the dashboard needs. */
export type DashboardConfig = Pick<
  Config,
  | 'HOST'
  | 'PUBLIC_URL_DASHBOARD'
  | 'PUBLIC_URL_LIVE'
  | 'PUBLIC_URL_SANDBOX'
  | 'WEBHOOK_EGRESS_ADDRESSES'
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

/** What features register their pages with. */
export interface FeatureDependencies {
  /** For routes that do not belong to a merchant. */
  readonly app: DashboardApp;
  readonly pages: Pages;
  readonly guard: SessionGuard;
  readonly clients: DashboardClients;
  readonly config: DashboardConfig;
  readonly signInLimit: SignInLimit;
  /** The dashboard's public URL; callable once it listens. */
  readonly baseUrl: () => string;
}
