/** Script that replaces the gamepads of the browser by `window.pad`, which is at rest. */
export const CONNECT_PAD = `
  window.pad = {
    id: 'Test pad', index: 1, mapping: 'standard', connected: true, axes: [0, 0, 0, 0],
    buttons: Array.from({ length: 8 }, () => ({ pressed: false })),
  }
  navigator.getGamepads = () => [null, window.pad]`

/** Script that resolves after two animation frames, each of which polls the gamepads. */
export const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'
