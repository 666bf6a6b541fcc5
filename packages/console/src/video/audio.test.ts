import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createStore } from '../base/store.ts'
import { createRobotSound } from './audio.ts'
import type { SoundLine } from './player.ts'
import { withOwnSoundStream } from './whep.ts'

beforeEach(() => {
  vi.stubGlobal('window', new EventTarget())
  vi.stubGlobal('document', new EventTarget())
  vi.stubGlobal('MediaStream', class {})
})
afterEach(() => vi.unstubAllGlobals())

function fakeMicrophone() {
  const track = Object.assign(new EventTarget(), { enabled: true, stop: vi.fn() })
  return track as typeof track & MediaStreamTrack
}

/** Opens the sound of one camera. `sent` lists whether each track that was sent is a microphone. */
function openSound({ isListening = true } = {}) {
  const speaker = {
    muted: false,
    srcObject: null as MediaProvider | null,
    pause: vi.fn(),
    play: vi.fn(async () => undefined),
  }
  const microphone = fakeMicrophone()
  const openMicrophone = vi.fn(async (): Promise<MediaStreamTrack> => microphone)
  const sound = createRobotSound(createStore(isListening), { speaker, openMicrophone })
  const close = sound.open()
  const sent: boolean[] = []
  const picture = new AbortController()
  const line: SoundLine = {
    track: {} as MediaStreamTrack,
    ended: picture.signal,
    send: async (track) => void sent.push(track !== null),
  }
  sound.connect({ heard: line, spoken: line })
  return { sound, speaker, microphone, openMicrophone, sent, picture, close }
}

const refusal = new DOMException('', 'NotAllowedError')

test('the microphone is asked for once, sent while held, and never outlasts the picture', async () => {
  const { sound, speaker, microphone, openMicrophone, sent, picture } = openSound()
  expect(openMicrophone).not.toHaveBeenCalled()
  await sound.speak()
  expect([sound.state.get().speech, microphone.enabled, speaker.muted]).toEqual(['speaking', true, true])
  sound.hush()
  expect([sound.state.get().speech, microphone.enabled, speaker.muted]).toEqual(['silent', false, false])
  await sound.speak()
  picture.abort()
  expect([microphone.enabled, speaker.srcObject]).toEqual([false, null])
  expect(sound.state.get()).toMatchObject({ speech: 'silent', canHear: false, canSpeak: false })
  expect([sent, openMicrophone.mock.calls.length]).toEqual([[true, false, true, false], 1])
})

test('a press that ends while the browser asks sends nothing, and neither does one after a refusal', async () => {
  const { sound, microphone, openMicrophone, sent } = openSound()
  openMicrophone.mockRejectedValueOnce(refusal)
  await sound.speak()
  expect(sound.state.get().notice).toMatch(/refused the microphone/)
  const press = sound.speak()
  expect(sound.state.get().speech).toBe('asking')
  window.dispatchEvent(new Event('blur'))
  await press
  expect(sound.state.get().notice).toMatch(/Hold again/)
  expect([microphone.enabled, sent]).toEqual([false, []])
})

test('sound that the browser refuses begins with the next key, and the microphone is released at the end', async () => {
  const { sound, speaker, microphone, close } = openSound({ isListening: false })
  expect(speaker.play).not.toHaveBeenCalled()
  await sound.speak()
  close()
  expect([microphone.enabled, microphone.stop.mock.calls.length]).toEqual([false, 1])

  const refused = openSound()
  refused.speaker.play.mockRejectedValueOnce(refusal)
  refused.sound.connect({
    heard: { track: {} as MediaStreamTrack, ended: refused.picture.signal },
    spoken: undefined,
  })
  await vi.waitFor(() => expect(refused.sound.state.get().isBlocked).toBe(true))
  window.dispatchEvent(new Event('keydown'))
  await vi.waitFor(() => expect(refused.sound.state.get().isBlocked).toBe(false))
})

test('the sound of an answer is in another stream than the picture, which then does not wait for it', () => {
  const lines = [
    'v=0',
    'm=video 9',
    'a=msid:robot video',
    'm=audio 9',
    'a=msid:robot audio',
    'a=ssrc:1 msid:robot a',
    '',
  ]
  const changed = withOwnSoundStream(lines.join('\r\n')).split('\r\n')
  expect(changed).toEqual(lines.toSpliced(4, 2, 'a=msid:sound audio', 'a=ssrc:1 msid:sound a'))
})
