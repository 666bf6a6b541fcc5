import { useEffect, useRef } from 'react'
import { playTones } from '../base/sound.ts'
import type { TrustState } from '../status/trust.ts'

/** A change that an operator must not miss while looking elsewhere. */
interface AlertState {
  readonly trust: TrustState
  readonly isStopped: boolean
}

const TICK = [[880, 40]] as const
const LOW = [
  [330, 160],
  [262, 220],
] as const
const STOP = [[440, 320]] as const

/** Plays a tick when the picture is late, two low tones when it is blind or the robot lost, and a tone when it is stopped. */
export function useAlerts({ trust, isStopped }: AlertState): void {
  const before = useRef({ trust, isStopped })
  useEffect(() => {
    const old = before.current
    before.current = { trust, isStopped }
    if (isStopped && !old.isStopped) {
      playTones(STOP)
      navigator.vibrate?.(600)
    } else if (isDark(trust) && !isDark(old.trust)) {
      playTones(LOW)
      navigator.vibrate?.([200, 100, 200])
    } else if (trust === 'DELAYED' && old.trust === 'LIVE') {
      playTones(TICK)
    }
  }, [trust, isStopped])
}

const isDark = (trust: TrustState): boolean => trust === 'BLIND' || trust === 'LOST'
