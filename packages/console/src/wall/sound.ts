import { useEffect, useRef } from 'react'
import { createPersisted } from '../base/persisted.ts'
import { useStore } from '../base/store.ts'

/** Whether the wall makes sounds. The browser allows them after the first gesture of the user only. */
export const soundOn = createPersisted('wheelhouse-wall-sound', true, (text) => text === 'true')

/** The tones of a sound, in hertz: a stop rises, a loss falls. */
const TONES = { stopped: [660, 880], lost: [440, 294] } as const
const TONE_S = 0.18
const VOLUME = 0.12

let context: AudioContext | undefined

function play(sound: keyof typeof TONES): void {
  // Without a gesture on this page the browser would only warn.
  if (!navigator.userActivation?.hasBeenActive) return
  context ??= new AudioContext()
  const { destination, currentTime } = context
  TONES[sound].forEach((hertz, index) => {
    if (!context) return
    const [tone, volume] = [context.createOscillator(), context.createGain()]
    const startS = currentTime + index * TONE_S
    tone.frequency.value = hertz
    volume.gain.setValueAtTime(VOLUME, startS)
    volume.gain.exponentialRampToValueAtTime(0.001, startS + TONE_S)
    tone.connect(volume).connect(destination)
    tone.start(startS)
    tone.stop(startS + TONE_S)
  })
}

/** Sounds when a robot is newly stopped, or newly lost or blind. @param ids of those robots now; undefined until known */
export function useSounds(ids: Readonly<Record<keyof typeof TONES, readonly string[]>> | undefined): void {
  const isOn = useStore(soundOn)
  const known = useRef<typeof ids>(undefined)
  useEffect(() => {
    const before = known.current
    known.current = ids
    if (!before || !ids || !isOn) return
    const isNew = (sound: keyof typeof TONES) => ids[sound].some((id) => !before[sound].includes(id))
    if (isNew('stopped')) play('stopped')
    else if (isNew('lost')) play('lost')
  }, [ids, isOn])
}
