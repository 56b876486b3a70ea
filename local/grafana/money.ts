import { RequestsPerSecond, Seconds, Short } from '@grafana/grafana-foundation-sdk/units';
import { chart, dashboard } from './chart.ts';

/** PromQL: seconds since the last time that a gauge has reported, which a restarted process does not know. */
const since = (timestamp: string) => `time() - max(max_over_time(${timestamp}[2d]) > 0)`;

export const money = dashboard(
  'payments-money',
  'money',
  'Whether funds, refunds, payouts and their records agree, and what waits.',
  [
    chart('Differences found in funds, a day', Short, {
      '{{invariant}}': 'sum by (invariant) (increase(payments_funds_differences_total[1d]))',
    }).description('Alert: FundsDiffer'),
    chart('Differences found between areas, a day', Short, {
      '{{rule}}': 'sum by (rule) (increase(payments_area_differences_total[1d]))',
    }).description('Alert: AreasDiffer'),
    chart('Since the last verification', Seconds, {
      funds: since('payments_funds_verification_end_timestamp_seconds'),
      areas: since('payments_area_check_end_timestamp_seconds'),
    }).description(
      'Alerts: FundsVerificationLate, AreaCheckLate. Both run every night; empty until they first end.',
    ),
    chart('Accounts that could not be verified, a day', Short, {
      '{{cause}}': 'sum by (cause) (increase(payments_funds_verification_failures_total[1d]))',
    }).description('Alert: FundsVerificationFails'),
    chart('Since funds became due that are not released', Seconds, {
      '{{environment}}': 'max by (environment) (payments_funds_release_late_seconds)',
    }).description('Alert: FundsReleaseLate'),
    chart('Debts overdue', Short, {
      '{{environment}}': 'max by (environment) (payments_debts_overdue)',
    }).description('Alert: DebtsOverdue, in live'),
    chart('Oldest hold of KYC and of compliance', Seconds, {
      '{{environment}} {{reason}}': 'max by (environment, reason) (payments_funds_oldest_hold_seconds)',
    }).description('Alert: FundsHoldOld, in live'),
    chart('Calls to providers', RequestsPerSecond, {
      '{{provider}} {{environment}} {{result}}':
        'sum by (provider, environment, result) (rate(payments_provider_submissions_total[5m]))',
    }).description('Alert: RefundProviderFails, in live'),
    chart('Longest silence of a provider about a refund', Seconds, {
      '{{environment}}': 'max by (environment) (payments_refunds_provider_silence_seconds)',
    }).description('Alert: RefundProviderSilent, in live'),
    chart('Oldest refund at a provider', Seconds, {
      '{{environment}}': 'max by (environment) (payments_refunds_oldest_at_provider_seconds)',
    }).description('Alert: RefundAtProviderOld, in live'),
    chart('Successes reported of refunds that are not debited, in a day', Short, {
      '{{environment}}': 'sum by (environment) (increase(payments_refunds_contradicted_total[1d]))',
    }).description('Alert: RefundPaidUndebited, in live'),
    chart('Refund cases overdue', Short, {
      '{{environment}} {{owner}}': 'max by (environment, owner) (payments_refunds_overdue)',
    }).description('Alert: RefundCasesOverdue, in the sandbox for the service only'),
    chart('Dispute responses not submitted', Short, {
      '{{environment}}': 'max by (environment) (payments_dispute_responses_overdue)',
    }).description('Alert: DisputeResponsesOverdue, in live'),
    chart('Disputes overdue', Short, {
      '{{environment}}': 'max by (environment) (payments_disputes_overdue)',
    }).description('Alert: DisputesOverdue, in live'),
    chart('Longest wait for a review or release of an advance', Seconds, {
      '{{environment}}': 'max by (environment) (payments_advance_requests_waiting_seconds)',
    }).description('Alert: AdvanceRequestsWait, in live'),
    chart('Longest stuck payout', Seconds, {
      '{{environment}}': 'max by (environment) (payments_payouts_stuck_seconds)',
    }).description('Alert: PayoutsStuck, in live'),
    chart('Payout not recorded', Seconds, {
      '{{environment}}': 'max by (environment) (payments_payouts_unrecorded_seconds)',
    }).description('Alert: PayoutNotRecorded, in live'),
    chart('Second payouts of advances, in a day', Short, {
      '{{environment}}': 'sum by (environment) (increase(payments_payouts_second_total[1d]))',
    }).description('Alert: PayoutMadeTwice, in live'),
  ],
);
