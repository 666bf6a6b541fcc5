/** Frames per second of a canvas in a floating window. */
const CANVAS_HZ = 30

/** Returns whether the browser can show a video in a floating window. */
export const canFloat = (): boolean => document.pictureInPictureEnabled === true

/**
 * Shows the picture below an element in a floating window, which stays above all others, or ends that. Does nothing for a
 * plain image, which cannot float.
 */
export async function toggleFloating(element: HTMLElement): Promise<void> {
  if (document.pictureInPictureElement) return await document.exitPictureInPicture()
  const video = element.querySelector('video') ?? (await videoOf(element.querySelector('canvas[role=img]')))
  await video?.requestPictureInPicture()
}

/** Returns a playing video of a canvas. It ends with its window. */
async function videoOf(canvas: HTMLCanvasElement | null): Promise<HTMLVideoElement | undefined> {
  if (!canvas) return undefined
  const video = document.createElement('video')
  const stream = canvas.captureStream(CANVAS_HZ)
  video.muted = true
  video.srcObject = stream
  video.addEventListener('leavepictureinpicture', () => {
    for (const track of stream.getTracks()) track.stop()
    video.srcObject = null
  })
  await video.play()
  return video
}
