import { byteBudget } from '../../../gateway/base/connection.ts'

/** Lifts the limit of bytes a second of all gateways in this process, for tests that fill a peer's buffers. Returns its restoration. */
export function liftByteBudget(): () => void {
  const { perSecond } = byteBudget
  byteBudget.perSecond = Number.POSITIVE_INFINITY
  return () => {
    byteBudget.perSecond = perSecond
  }
}
