//! What is acknowledged exists, whatever happens to the store's directory meanwhile.
