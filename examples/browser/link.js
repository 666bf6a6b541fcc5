// One WebSocket of the gateway that comes back when that makes sense. docs/protocol.md describes the wire.

/** Close codes after which a new connection makes sense. */
const COME_BACK = new Set([1006, 4008, 4009, 4408, 4500, 4503])
const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 10_000
const CONNECT_LIMIT_MS = 10_000

/** A clock that never jumps, in milliseconds of Unix time or nearly so. */
export const nowMs = () => performance.timeOrigin + performance.now()

/**
 * Connects with what `admission()` resolves to, `{url, token}`, and connects again after losses. `admission` may
 * throw; an error with `final: true` ends the attempts. `silenceMs`: without any frame for so long the connection
 * counts as lost.
 * @returns `send(frame)`, true when it was handed to an open socket that keeps up; `expectFrames(forMs)`; `close()`
 */
export function openLink({ admission, onOpen, onFrame, onBinary, onState, silenceMs = 5_000 }) {
  let socket = null
  let retry
  let silence
  let limitMs = silenceMs
  let ended = false
  let failures = 0

  function lost(why, final) {
    socket = null
    clearTimeout(silence)
    if (ended) return
    onState(final ? `ended: ${why}` : `lost: ${why}`)
    if (final) {
      ended = true
      return
    }
    // Full jitter: those who lost a gateway together do not come back together.
    const ceilingMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++)
    retry = setTimeout(dial, Math.random() * ceilingMs)
  }

  async function dial() {
    onState('connecting')
    let admitted
    try {
      admitted = await admission()
    } catch (problem) {
      return lost(problem.message, problem.final === true)
    }
    if (ended) return
    // The gateway picks the first entry, so the token does not travel back.
    const mine = new WebSocket(admitted.url, ['wheelhouse.v1', `bearer.${admitted.token}`])
    mine.binaryType = 'arraybuffer'
    socket = mine
    // close() of a dead connection takes its time; nobody has to wait for it.
    const giveUp = (why) => {
      if (mine !== socket) return
      mine.close()
      lost(why, false)
    }
    const listen = (forMs) => {
      clearTimeout(silence)
      silence = setTimeout(() => giveUp('silence'), forMs)
    }
    listen(CONNECT_LIMIT_MS)
    mine.onopen = () => {
      if (mine !== socket) return
      listen(limitMs)
      onOpen?.()
      onState('connected')
    }
    mine.onmessage = ({ data }) => {
      if (mine !== socket) return
      failures = 0
      listen(limitMs)
      if (typeof data === 'string') onFrame(JSON.parse(data))
      else onBinary?.(new DataView(data))
    }
    mine.onclose = ({ code, reason }) => {
      if (mine !== socket) return
      lost(`${code} ${reason}`.trim(), !COME_BACK.has(code))
    }
  }

  dial()
  return {
    /** From the next frame on, `forMs` without one means that the connection is lost. */
    expectFrames(forMs) {
      limitMs = forMs
    },
    send(frame) {
      if (socket?.readyState !== WebSocket.OPEN || socket.bufferedAmount > 64 * 1024) return false
      socket.send(JSON.stringify(frame))
      return true
    },
    close() {
      ended = true
      clearTimeout(retry)
      clearTimeout(silence)
      socket?.close(1000)
      socket = null
      onState('closed')
    },
  }
}
