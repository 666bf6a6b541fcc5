export { type CameraSession, type CameraStore, firstLiveCamera } from './camera.store.ts'
export { STREAM_URL_CAMERA } from './camera-name.ts'
export { createVideo } from './module.ts'
export { videoEndpoints } from './video.routes.ts'
