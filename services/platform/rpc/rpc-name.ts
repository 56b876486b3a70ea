import type { DescMethod } from '@bufbuild/protobuf';

/** The full name of an RPC: `payments.refunds.v1.RefundCaseService.GetRefundCase`. */
export const rpcName = ({ parent, name }: DescMethod): string => `${parent.typeName}.${name}`;
