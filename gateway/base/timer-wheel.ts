/** A peer that the wheel watches. Times are milliseconds in the clock that `add` and `advance` receive. */
export interface Watched {
  /** When the peer last gave a sign of life. Changes while the peer is watched. */
  readonly lastSignMs: number
  /** False once the wheel is to forget the peer. */
  readonly open: boolean
}

/**
 * Finds peers that went silent. A sign of life only writes a number: the wheel checks a peer again when its last known
 * deadline has passed, so a heartbeat costs nothing here. Silence is noticed within one tick.
 */
export function createTimerWheel<T extends Watched>(options: {
  timeoutMs: number
  tickMs: number
  onSilent: (peer: T) => void
}) {
  const { timeoutMs, tickMs, onSilent } = options
  const slotCount = Math.ceil(timeoutMs / tickMs) + 2
  const slots: T[][] = Array.from({ length: slotCount }, () => [])
  let lastTick: number | undefined

  function schedule(peer: T, nowTick: number): void {
    const dueTick = Math.max(nowTick + 1, Math.ceil((peer.lastSignMs + timeoutMs) / tickMs))
    slots[dueTick % slotCount]?.push(peer)
  }

  return {
    add(peer: T, nowMs: number): void {
      schedule(peer, Math.floor(nowMs / tickMs))
    },

    /** Checks every peer whose deadline has passed by `nowMs`. Call it every `tickMs`; late calls catch up. */
    advance(nowMs: number): void {
      const nowTick = Math.floor(nowMs / tickMs)
      const first = Math.max(lastTick === undefined ? nowTick : lastTick + 1, nowTick - slotCount + 1)
      for (let tick = first; tick <= nowTick; tick++) {
        const slot = tick % slotCount
        const due = slots[slot] as T[]
        slots[slot] = []
        for (const peer of due) {
          if (!peer.open) continue
          if (nowMs - peer.lastSignMs >= timeoutMs) onSilent(peer)
          else schedule(peer, nowTick)
        }
      }
      lastTick = nowTick
    },
  }
}
