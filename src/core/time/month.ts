/** Months as invoices and statistics count them: `YYYY-MM`, in UTC. As text they sort by time. */

/** The month a moment lies in. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

/** The first moment of a month. */
export const startOf = (month: string): Date => new Date(`${month}-01T00:00:00.000Z`)

/** The month that comes `count` months later; negative counts go back. */
export function addMonths(month: string, count: number): string {
  const start = startOf(month)
  return monthOf(new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + count)))
}
