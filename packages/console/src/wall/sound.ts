import { useEffect, useRef } from 'react'
import { createPersisted } from '../base/persisted.ts'
import { playTones } from '../base/sound.ts'
import { useStore } from '../base/store.ts'

/** Whether the wall makes sounds. The browser allows them after the first gesture of the user only. */
export const soundOn = createPersisted('wheelhouse-wall-sound', true, (text) => text === 'true')

/** A stop rises, a loss falls. */
const TONES = {
  stopped: [
    [660, 180],
    [880, 180],
  ],
  lost: [
    [440, 180],
    [294, 180],
  ],
} as const

/** Sounds when a robot is newly stopped, or newly lost or blind. @param ids of those robots now; undefined until known */
export function useSounds(ids: Readonly<Record<keyof typeof TONES, readonly string[]>> | undefined): void {
  const isOn = useStore(soundOn)
  const known = useRef<typeof ids>(undefined)
  useEffect(() => {
    const before = known.current
    known.current = ids
    if (!before || !ids || !isOn) return
    const isNew = (sound: keyof typeof TONES) => ids[sound].some((id) => !before[sound].includes(id))
    if (isNew('stopped')) playTones(TONES.stopped)
    else if (isNew('lost')) playTones(TONES.lost)
  }, [ids, isOn])
}
