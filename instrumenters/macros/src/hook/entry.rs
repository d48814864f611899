//! Entry of an armed hook: the subject of the call, and the values that may be recorded.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::Signature;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use crate::hook::call::Call;
use crate::hook::plain_expr;
use crate::hook::receiver;
use crate::hook::self_type::SelfType;

/// Generator of the code that enters a call.
pub struct Entry<'a> {
    pub call: &'a Call<'a>,
    pub sig: &'a Signature,
}

impl Entry<'_> {
    /// Generates the statements and the expression that make the call in `__frame`.
    ///
    /// Facts about the receiver are computed out of line. Expressions over the arguments cannot be,
    /// as they would take the arguments' addresses, and so keep them out of registers in the body.
    pub fn tokens(&self) -> TokenStream {
        let krate = self.call.krate;
        let offered = self.receiver().filter(|_| self.call.self_type == SelfType::Static);
        let caller = self.caller();
        let subject = self.subject();
        let enter = match (self.arguments(), &self.call.options.subject, self.receiver()) {
            (Some(arguments), ..) => {
                let receiver = offered.map(
                    |it| quote_spanned!(Span::mixed_site()=> __reify.receiver(#krate::__private::Receiver::<Self>(#it).0);),
                );
                quote_spanned!(Span::mixed_site()=>
                    let __subject = #subject;
                    #krate::__private::enter_with(&mut __frame, __site, __subject, |__reify| { #receiver #arguments })
                )
            }
            (None, None, Some(it)) => {
                let subject = self.identified(quote_spanned!(Span::mixed_site()=> __it));
                let enter = match offered {
                    Some(_) => quote_spanned!(Span::mixed_site()=> enter_on),
                    None => quote_spanned!(Span::mixed_site()=> enter_by),
                };
                quote_spanned!(Span::mixed_site()=>
                    #krate::__private::#enter::<Self>(&mut __frame, __site, #it, |__it| #subject)
                )
            }
            (None, None, None) => quote_spanned!(Span::mixed_site()=>
                #krate::__private::enter_site(&mut __frame, __site)
            ),
            (None, ..) => match offered {
                Some(it) => quote_spanned!(Span::mixed_site()=>
                    let __unwinding = #krate::__private::Unwinding::now();
                    let __subject = #subject;
                    #krate::__private::enter_as::<Self>(__unwinding, &mut __frame, __site, #it, __subject)
                ),
                None => quote_spanned!(Span::mixed_site()=>
                    let __unwinding = #krate::__private::Unwinding::now();
                    let __subject = #subject;
                    #krate::__private::enter(__unwinding, &mut __frame, __site, __subject)
                ),
            },
        };
        quote_spanned!(Span::mixed_site()=> #caller #enter)
    }

    /// Generates a statement that remembers the caller, if it is to be shown.
    pub fn caller(&self) -> Option<TokenStream> {
        let is_wanted = self.call.options.caller.is_some();
        is_wanted.then(|| quote_spanned!(Span::mixed_site()=> let __caller = ::core::panic::Location::caller();))
    }

    /// Generates an expression for the subject of the call.
    pub fn subject(&self) -> TokenStream {
        let krate = self.call.krate;
        if let Some(subject) = &self.call.options.subject {
            // With this span, the compiler's error points at a subject that cannot be identified.
            let at = Span::mixed_site().located_at(subject.span());
            if !plain_expr::is_plain(subject) {
                let identity =
                    quote_spanned!(at=> #krate::__private::Identify::identify(&(#subject)));
                return quote_spanned!(Span::mixed_site()=> #krate::__private::subject(|| #identity));
            }
            let stated = quote_spanned!(at=> #krate::__private::stated(&(#subject)));
            return quote_spanned!(Span::mixed_site()=> {
                #[allow(unused_imports)]
                use #krate::__private::{GuardedIdentity as _, AddressIdentity as _};
                (&#stated).subject_or_none()
            });
        }
        match self.receiver() {
            Some(it) => self.identified(it),
            None => quote_spanned!(Span::mixed_site()=> #krate::__private::Subject::NONE),
        }
    }

    /// Generates an expression for the subject of a call whose receiver is `it`.
    fn identified(&self, it: TokenStream) -> TokenStream {
        let krate = self.call.krate;
        let receiver = quote_spanned!(Span::mixed_site()=>
            #[allow(unused_imports)]
            use #krate::__private::{GuardedIdentity as _, AddressIdentity as _};
            (&#krate::__private::Receiver::<Self>(#it))
        );
        let by_value = self.sig.receiver().is_some_and(receiver::is_by_value);
        match self.call.self_type {
            _ if by_value => quote_spanned!(Span::mixed_site()=> { #receiver.subject_or_none() }),
            SelfType::Static | SelfType::Borrowing => quote_spanned!(Span::mixed_site()=> {
                static __METASPY_PLACE: #krate::__private::PlaceOf = #krate::__private::PlaceOf::new();
                #receiver.subject_or(&__METASPY_PLACE)
            }),
            SelfType::Generic | SelfType::Unknown => {
                quote_spanned!(Span::mixed_site()=> { #receiver.subject_or_place() })
            }
        }
    }

    /// Generates statements that show the arguments, or `None` if there are none to show.
    pub fn arguments(&self) -> Option<TokenStream> {
        let args = self.call.options.args.iter().map(|argument| {
            let name = argument.name.unraw().to_string();
            let value = &argument.value;
            // With this span, the compiler's error points at an argument that is not `Debug`.
            let shown = quote_spanned!(Span::mixed_site().located_at(value.span())=> &(#value));
            quote_spanned!(Span::mixed_site()=> __reify.arg(#name, #shown);)
        });
        let caller =
            self.call.options.caller.map(
                |_| quote_spanned!(Span::mixed_site()=> __reify.arg("caller", &::core::format_args!("{__caller}"));),
            );
        let shown: TokenStream = args.chain(caller).collect();
        (!shown.is_empty()).then_some(shown)
    }

    fn receiver(&self) -> Option<TokenStream> {
        self.sig.receiver().map(receiver::reference)
    }
}
