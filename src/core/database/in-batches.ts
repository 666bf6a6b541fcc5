/** Most batches of one run, so that a run ends whatever the statement does. The next run continues. */
const MAX_BATCHES = 200

/**
 * Repeats a statement that handles at most `batchSize` rows, until it handles fewer. It returns how many it has really handled: rows
 * that it selects again and again, but cannot remove, end the run.
 */
export async function inBatches(batchSize: number, handleBatch: () => Promise<number>): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) if ((await handleBatch()) < batchSize) return
}
