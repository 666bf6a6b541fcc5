/** Returns for how many milliseconds a model test explores. `MODEL_MS` sets a longer time. */
export const modelBudgetMs = (): number => Number(process.env.MODEL_MS ?? 5_000)
