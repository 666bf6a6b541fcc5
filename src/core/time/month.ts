/** Months of invoices and statistics: `YYYY-MM`, in UTC. As text, they sort by time. */

/** Returns the month of a time. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

/** Returns the first moment of a month. */
export const startOf = (month: string): Date => new Date(`${month}-01T00:00:00.000Z`)

/** Returns the month `count` months later. A negative count returns an earlier month. */
export function addMonths(month: string, count: number): string {
  const start = startOf(month)
  return monthOf(new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + count)))
}
