/** Most buttons of a filter whose values are not known in advance. */
const MAX_OPTIONS = 8

interface CountedValue {
  readonly value: string
  readonly count: number
}

/** Returns the most frequent values as options of a filter, and the selected one in any case. */
export function optionsOf(values: readonly CountedValue[] = [], selected: string | undefined) {
  const shown = values.slice(0, MAX_OPTIONS)
  const missing = selected !== undefined && !shown.some(({ value }) => value === selected)
  const count = values.find(({ value }) => value === selected)?.count
  return [
    ...shown.map((option) => ({ ...option, label: option.value })),
    ...(missing ? [{ value: selected, label: selected, count }] : []),
  ]
}
