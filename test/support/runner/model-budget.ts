/** Returns for how many milliseconds a model test explores. `MODEL_MS` sets it; CI explores longer than a local run. */
export const modelBudgetMs = (): number => Number(process.env.MODEL_MS ?? (process.env.CI ? 15_000 : 5_000))
