/** Questions that one query answers at most, unless their answers are long. */
const MOST_AT_ONCE = 100

interface Waiting<Q, A> {
  readonly question: Q
  readonly resolve: (answer: A) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Answers questions that come up in the same turn of the event loop by one query. Alone, a question is asked at
 * once; when thousands of clients return together, a turn brings hundreds of them, and what asking costs is shared.
 * `ask` answers each question at its place. When it fails, it fails for all whose questions were in it.
 */
export function gathered<Q, A>(
  ask: (questions: readonly Q[]) => Promise<readonly A[]>,
  mostAtOnce = MOST_AT_ONCE,
): (question: Q) => Promise<A> {
  let waiting: Waiting<Q, A>[] = []

  async function askAll(batch: readonly Waiting<Q, A>[]): Promise<void> {
    try {
      const answers = await ask(batch.map(({ question }) => question))
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as A)
    } catch (cause) {
      for (const { reject } of batch) reject(cause)
    }
  }

  function askWaiting(): void {
    const all = waiting
    waiting = []
    for (let start = 0; start < all.length; start += mostAtOnce) {
      void askAll(all.slice(start, start + mostAtOnce))
    }
  }

  return (question) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ question, resolve, reject }) === 1) setImmediate(askWaiting)
    })
}
