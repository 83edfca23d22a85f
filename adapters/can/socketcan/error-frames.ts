/** Error frames of the controller (linux/can/error.h), counted by class. */

const TX_TIMEOUT = 0x001;
const LOSTARB = 0x002;
const CRTL = 0x004;
const PROT = 0x008;
const TRX = 0x010;
const ACK = 0x020;
const BUSOFF = 0x040;
const BUSERROR = 0x080;
const RESTARTED = 0x100;

/** Bits of byte 1 for the class CRTL. */
const CRTL_RX_OVERFLOW = 0x01;
const CRTL_TX_OVERFLOW = 0x02;
const CRTL_WARNING = 0x04 | 0x08;
const CRTL_PASSIVE = 0x10 | 0x20;
const CRTL_ACTIVE = 0x40;

/** Counts since the start. One frame may belong to several classes. */
export class ErrorCounts {
  /** Number of error frames. */
  errors = 0;
  transmitTimeouts = 0;
  arbitrationLost = 0;
  /** Number of overflows of the controller's receive buffer: each lost at least one frame. */
  controllerOverflows = 0;
  errorWarning = 0;
  errorPassive = 0;
  protocolViolations = 0;
  transceiverFaults = 0;
  notAcknowledged = 0;
  busOff = 0;
  busErrors = 0;
  controllerRestarts = 0;
  /** True from a bus-off until the controller is active on the bus again. */
  isOff = false;

  /**
   * Counts an error frame.
   * @param id with the error classes as bits
   * @param controller byte 1 of the payload
   */
  count(id: number, controller: number): void {
    this.errors++;
    if ((id & TX_TIMEOUT) !== 0) this.transmitTimeouts++;
    if ((id & LOSTARB) !== 0) this.arbitrationLost++;
    if ((id & CRTL) !== 0) this.#countController(controller);
    if ((id & PROT) !== 0) this.protocolViolations++;
    if ((id & TRX) !== 0) this.transceiverFaults++;
    if ((id & ACK) !== 0) this.notAcknowledged++;
    if ((id & BUSERROR) !== 0) this.busErrors++;
    if ((id & BUSOFF) !== 0) {
      this.busOff++;
      this.isOff = true;
    }
    if ((id & RESTARTED) !== 0) {
      this.controllerRestarts++;
      this.isOff = false;
    }
  }

  #countController(bits: number): void {
    if ((bits & (CRTL_RX_OVERFLOW | CRTL_TX_OVERFLOW)) !== 0) this.controllerOverflows++;
    if ((bits & CRTL_WARNING) !== 0) this.errorWarning++;
    if ((bits & CRTL_PASSIVE) !== 0) this.errorPassive++;
    if ((bits & CRTL_ACTIVE) !== 0) this.isOff = false;
  }

  counts(): Readonly<Record<string, number>> {
    const { errors, transmitTimeouts, arbitrationLost, controllerOverflows, errorWarning, errorPassive } = this;
    const { protocolViolations, transceiverFaults, notAcknowledged, busOff, busErrors, controllerRestarts } = this;
    return {
      errors,
      transmitTimeouts,
      arbitrationLost,
      controllerOverflows,
      errorWarning,
      errorPassive,
      protocolViolations,
      transceiverFaults,
      notAcknowledged,
      busOff,
      busErrors,
      controllerRestarts,
    };
  }
}
