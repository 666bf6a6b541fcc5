/** A tone: its frequency in hertz and its length in milliseconds. */
type Tone = readonly [hz: number, ms: number]

const GAP_S = 0.06
const VOLUME = 0.08
const FADE_S = 0.02

let context: AudioContext | undefined

/** Plays tones one after the other. Silent before the first press of the page, as browsers require. */
export function playTones(tones: readonly Tone[]): void {
  if (!navigator.userActivation?.hasBeenActive) return
  try {
    context ??= new AudioContext()
    let at = context.currentTime
    for (const [hz, ms] of tones) {
      const [oscillator, gain] = [context.createOscillator(), context.createGain()]
      oscillator.frequency.value = hz
      gain.gain.setValueAtTime(VOLUME, at)
      gain.gain.setTargetAtTime(0, at + ms / 1_000 - FADE_S, FADE_S / 2)
      oscillator.connect(gain).connect(context.destination)
      oscillator.start(at)
      oscillator.stop(at + ms / 1_000 + FADE_S)
      at += ms / 1_000 + GAP_S
    }
  } catch (cause) {
    console.warn('sound:', cause) // without a sound card, what is on the screen remains
  }
}
