export { STREAM_URL_CAMERA } from './camera.schema.ts'
export { type CameraSession, type CameraStore, firstLiveCamera } from './camera.store.ts'
export { createVideo } from './module.ts'
export { videoEndpoints } from './video.routes.ts'
