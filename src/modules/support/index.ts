export { createSupport, supportEndpoints } from './module.ts'
