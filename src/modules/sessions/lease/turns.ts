/**
 * Creates what lets one command at a time change a session, of those in this process. The others are judged again after each change,
 * so that most of them are refused without a transaction. Of one user, one command at a time takes part: who sends many does not
 * keep others from their turn.
 */
export function createTurns() {
  /** The change of each session that is being made. */
  const turns = new Map<string, Promise<unknown>>()
  /** The newest command of each user in each session. */
  const newest = new Map<string, Promise<unknown>>()

  async function take(sessionId: string, check: () => Promise<unknown>, change: () => Promise<void>) {
    for (;;) {
      await check()
      const earlier = turns.get(sessionId)
      if (earlier === undefined) break
      await earlier.catch(() => {}) // its own request reports it
    }
    const turn = change().finally(() => turns.delete(sessionId))
    turns.set(sessionId, turn)
    await turn
  }

  /** Calls `check`, which throws to refuse the command, and then `change`. */
  return async (
    { sessionId, userId }: { sessionId: string; userId: string },
    check: () => Promise<unknown>,
    change: () => Promise<void>,
  ): Promise<void> => {
    const key = `${sessionId} ${userId}`
    const earlier = newest.get(key)
    const own = earlier
      ? earlier.catch(() => {}).then(() => take(sessionId, check, change))
      : take(sessionId, check, change)
    newest.set(key, own)
    try {
      await own
    } finally {
      if (newest.get(key) === own) newest.delete(key)
    }
  }
}
