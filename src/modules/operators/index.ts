export { CertificationView } from './certification.schema.ts'
export { createOperators, operatorsEndpoints } from './module.ts'
