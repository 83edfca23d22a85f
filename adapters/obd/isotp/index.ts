export { IsoTp, type IsoTpOptions, type IsoTpRequest } from './requester.ts';
export { FUNCTIONAL, FUNCTIONAL_29, usualRequest } from './route.ts';
