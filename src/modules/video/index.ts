export { type CameraStore, firstLiveCamera, type OpenSession } from './camera.store.ts'
export { createVideo } from './facade.ts'
export { videoEndpoints } from './video.routes.ts'
